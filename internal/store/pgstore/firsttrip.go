package pgstore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/foliofs/folio/internal/store"
)

// The first trip of a Store reads all that opening a volume needs, and adds the session. Its
// statements go as one text: to prepare them would take a trip more. If one of them fails, nothing
// has happened, and opening goes on step by step. Then it finds the cause: for
// example, the volume is not there, the role may only read, or the server is a standby.

// firstTrip holds the results of the first trip.
type firstTrip struct {
	ok         bool
	id, bucket string // of table bucket
}

// openText fails unless the tables have the latest version. wellText is a condition more for a
// Store that writes.
const (
	openText = "SELECT 1 / (v.application = 'folio' AND v.version = %d %s)::integer, b.id::text, coalesce(b.address, ''), coalesce((SELECT max(ino) FROM @node), 0) FROM @volume AS v CROSS JOIN @bucket AS b"
	wellText = "AND (SELECT NOT r.standby AND r.may AND r.missing = '' FROM (" + rightsText + ") AS r(standby, may, missing))"
	deadText = "SELECT count(*) FROM (SELECT FROM @orphan AS o WHERE NOT EXISTS (SELECT FROM @session AS s WHERE s.id = ANY(o.waits)) LIMIT 1) AS dead"
)

// openAtOnce makes the first trip. The statements before, if there are any, make the tables: their
// error is returned.
func (s *Store) openAtOnce(ctx context.Context, before ...string) (first firstTrip, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*s.timeout)
	defer cancel()
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return first, err
	}
	defer s.abandon(c)
	server := c.Conn().PgConn()
	if err := admitServer(server.ParameterStatus("server_version")); err != nil {
		return first, err
	}
	if server.ParameterStatus("crdb_version") != "" {
		return first, errCockroach
	}
	begun := time.Now()
	results, err := s.simple(ctx, c, slices.Concat(before, s.openStatements())...)
	if isBroken(err) && codeOf(err) != codeReadOnly || len(results) < len(before) {
		return first, err
	}
	results = results[len(before):]
	if err != nil || len(results[0].Rows) != 1 {
		return first, nil
	}
	row := results[0].Rows[0]
	first = firstTrip{ok: true, id: string(row[1]), bucket: string(row[2])}
	s.opened = &store.Info{Path: s.address, LastIno: store.Ino(textNumber(row[3]))}
	if s.readOnly {
		return first, nil
	}
	s.session.began(count(results[4]), count(results[5]), count(results[6]))
	s.session.wasSeen(begun)
	s.session.begin(s)
	if count(results[7]) > 0 {
		_ = s.reapAll(ctx, c.Conn()) // if that fails, another session does it
	}
	return first, nil
}

// openStatements returns the statements of the first trip.
func (s *Store) openStatements() []string {
	if s.readOnly {
		return []string{fmt.Sprintf(openText, latest(), "")}
	}
	return []string{
		fmt.Sprintf(openText, latest(), wellText),
		texts[beginWrite], literal(texts[lockVolume], s.schema.lockKey()), texts[expireSessions], literal(texts[addSession], s.lease.Microseconds()),
		texts[countSessions], literal(texts[countListeners], int64(lockOfListeners), int64(uint32(s.schema.listenersOf()))), deadText, texts[commit],
	}
}

// closeAtOnce removes the session, and reports whether there are orphans for which no session waits
// then.
func (s *Store) closeAtOnce(ctx context.Context, c *pgxpool.Conn) (orphans bool, err error) {
	results, err := s.simple(ctx, c, literal(texts[removeSession], s.session.number()), deadText)
	return err == nil && count(results[1]) > 0, err
}

// simple sends statements as one text, and returns their results, which are texts.
func (s *Store) simple(ctx context.Context, c *pgxpool.Conn, statements ...string) ([]*pgconn.Result, error) {
	results, err := c.Conn().PgConn().Exec(ctx, s.schema.in(strings.Join(statements, ";"))).ReadAll()
	for i := 0; i < len(results) && err == nil; i++ {
		err = results[i].Err
	}
	if err == nil && len(results) != len(statements) {
		err = errRolledBack
	}
	return results, err
}

// literal puts numbers in place of the parameters of a statement: fewer than ten.
func literal(text string, args ...int64) string {
	for i, n := range args {
		text = strings.ReplaceAll(text, "$"+strconv.Itoa(i+1), strconv.FormatInt(n, 10)+"::bigint")
	}
	return text
}

// count returns the number that a statement gives, 0 if there is none.
func count(r *pgconn.Result) int64 {
	if len(r.Rows) != 1 || len(r.Rows[0]) == 0 {
		return 0
	}
	return textNumber(r.Rows[0][0])
}

// textNumber reads a number that is a text, 0 for NULL.
func textNumber(text []byte) int64 {
	n, _ := strconv.ParseInt(string(text), 10, 64)
	return n
}
