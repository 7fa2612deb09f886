package pgstore

import (
	"context"
	"encoding/binary"

	"github.com/jackc/pgx/v5"
)

// A step is a statement of a trip.
type step struct {
	statement statement
	args      []any
	row       func(v [][]byte) // takes a row, whose bytes are valid until it returns; nil if there are none
	count     *int64           // gets the number of rows that were changed; or nil
	copied    *bulk            // goes by COPY in place of a statement; only in the first step
}

// do returns a step whose result does not matter.
func do(i statement, args ...any) step { return step{statement: i, args: args} }

// roundTrip sends statements to the server together and waits for their results: it takes the time
// of one round trip, besides the work. The first error ends it.
func (s *Store) roundTrip(ctx context.Context, c *pgx.Conn, steps ...step) error {
	err := s.roundTripOn(ctx, c, steps)
	if codeOf(err) == codeReadOnly || isBroken(err) {
		s.pool.Reset() // new connections look for the primary, and the idle ones may be broken, too
	}
	return err
}

func (s *Store) roundTripOn(ctx context.Context, c *pgx.Conn, steps []step) error {
	if len(steps) > 0 && steps[0].copied != nil {
		if err := steps[0].copied.send(ctx, c, s.schema); err != nil {
			return err
		}
		steps = steps[1:]
	}
	if len(steps) == 1 && steps[0].row != nil { // a batch of one would take more memory
		return steps[0].query(ctx, c, s.sql[steps[0].statement])
	}
	var b pgx.Batch
	for i := range steps {
		b.Queue(s.sql[steps[i].statement], steps[i].args...)
	}
	results := c.SendBatch(ctx, &b)
	for i := range steps {
		if err := steps[i].take(results); err != nil {
			_ = results.Close()
			return err
		}
	}
	return results.Close()
}

// take takes the results of a statement.
func (st *step) take(results pgx.BatchResults) error {
	if st.row == nil {
		tag, err := results.Exec()
		if err == nil && st.statement == commit && tag.String() != "COMMIT" {
			err = errRolledBack
		}
		if st.count != nil {
			*st.count = tag.RowsAffected()
		}
		return err
	}
	rows, err := results.Query()
	if err != nil {
		return err
	}
	return st.takeRows(rows)
}

// query makes a trip of one statement that gives rows.
func (st *step) query(ctx context.Context, c *pgx.Conn, sql string) error {
	rows, err := c.Query(ctx, sql, st.args...)
	if err != nil {
		return err
	}
	return st.takeRows(rows)
}

func (st *step) takeRows(rows pgx.Rows) error {
	for rows.Next() {
		st.row(rows.RawValues())
	}
	rows.Close()
	return rows.Err()
}

// number reads a bigint, 0 for NULL.
func number(v []byte) int64 {
	if len(v) != 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(v))
}

// numberInto returns the row function of a statement that gives one number.
func numberInto(n *int64) func(v [][]byte) { return func(v [][]byte) { *n = number(v[0]) } }

// ignore is the row function of a statement whose rows do not matter.
func ignore([][]byte) {}
