package pgstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
)

// rightsText tells whether the server is a standby, whether the role may begin a session, and which
// rights it lacks to keep one and to maintain the others.
const rightsText = `SELECT pg_is_in_recovery(), has_any_column_privilege('@session', 'INSERT'), coalesce(string_agg(verb || ' ON ' || name, ', '), '')
FROM (VALUES ('SELECT', '@session'), ('UPDATE', '@session'), ('DELETE', '@session'), ('SELECT', '@orphan'), ('UPDATE', '@orphan'), ('SELECT', '@version'), ('DELETE', '@version')) AS needed(verb, name)
WHERE NOT CASE verb WHEN 'DELETE' THEN has_table_privilege(name, verb) ELSE has_any_column_privilege(name, verb) END`

// Why a Store can only read.
var (
	errStandby = errors.New("the server is a standby, which only reads")
	errReader  = errors.New("the role may not insert into table session: grant the role rights on the schema of the volume, its tables and sequences")
)

// whyReader returns why there can be no session, nil if there can. It refuses a role that may begin
// one, but not keep it: its open files would lose their content.
func (s *Store) whyReader(ctx context.Context, c *pgx.Conn) (why, err error) {
	var standby, may bool
	var missing string
	err = c.QueryRow(ctx, s.schema.in(rightsText)).Scan(&standby, &may, &missing)
	switch {
	case err != nil:
		return nil, err
	case standby:
		return errStandby, nil
	case !may:
		return errReader, nil
	case missing != "":
		return nil, &serverError{fmt.Sprintf("%v: a role that writes needs these rights, too: %s", fs.ErrPermission, missing), fs.ErrPermission, nil}
	}
	return nil, nil
}
