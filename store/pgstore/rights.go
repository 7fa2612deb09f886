package pgstore

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
)

// rightsText tells whether the role may begin a session, and names the rights that it lacks to keep
// one and to tend the others.
const rightsText = `SELECT NOT pg_is_in_recovery() AND has_any_column_privilege('@session', 'INSERT'), coalesce(string_agg(verb || ' ON ' || name, ', '), '')
FROM (VALUES ('SELECT', '@session'), ('UPDATE', '@session'), ('DELETE', '@session'), ('SELECT', '@orphan'), ('UPDATE', '@orphan'), ('SELECT', '@version'), ('DELETE', '@version')) AS needed(verb, name)
WHERE NOT CASE verb WHEN 'DELETE' THEN has_table_privilege(name, verb) ELSE has_any_column_privilege(name, verb) END`

// maySession reports whether the role may begin a session. It refuses one that may not keep it: its
// open files would lose their content.
func (s *Store) maySession(ctx context.Context, c *pgx.Conn) (may bool, err error) {
	var missing string
	if err := c.QueryRow(ctx, s.schema.in(rightsText)).Scan(&may, &missing); err != nil {
		return false, err
	}
	if may && missing != "" {
		return false, &serverError{fmt.Sprintf("%v: a role that writes needs these rights, too: %s", fs.ErrPermission, missing), fs.ErrPermission, nil}
	}
	return may, nil
}
