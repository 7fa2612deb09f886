package pgstore

import (
	"cmp"
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

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
	if len(steps) == 1 && len(steps[0].args) == 0 && steps[0].count == nil { // as one text, it need not be prepared
		tag, err := c.Exec(ctx, s.sql[steps[0].statement], pgx.QueryExecModeSimpleProtocol)
		return cmp.Or(err, steps[0].committed(tag))
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
		if err == nil {
			err = st.committed(tag)
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

// committed returns an error if the statement is COMMIT, and the server has rolled back.
func (st *step) committed(tag pgconn.CommandTag) error {
	if st.statement == commit && tag.String() != "COMMIT" {
		return errRolledBack
	}
	return nil
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

// repeat calls fn, which changes nothing if it fails so, again and again while it meets conflicts
// or the connection breaks.
func (s *Store) repeat(ctx context.Context, fn func() error) error {
	d := delay{begun: time.Now()}
	for {
		err := fn()
		if !isConflict(err) && !isBroken(err) || !d.wait(ctx, s.timeout) {
			return err
		}
	}
}

// lockStep is the step that locks the volume.
func (s *Store) lockStep() step {
	return step{statement: lockVolume, args: []any{s.schema.lockKey()}, row: ignore}
}

// connect takes a connection and makes the first trip of a transaction on it. If the server is out
// of reach, breaks the connection, or finds a conflict, connect tries again, for as long as the
// Store's timeout: nothing has happened then. It does not if a row function was called, except
// those of the first steps, which begin the transaction.
func (s *Store) connect(ctx context.Context, first int, steps ...step) (*pgxpool.Conn, error) {
	var d delay
	taken := false
	for i := first; i < len(steps); i++ {
		if row := steps[i].row; row != nil {
			steps[i].row = func(v [][]byte) { taken = true; row(v) }
		}
	}
	for {
		c, err := s.pool.Acquire(ctx)
		if err == nil {
			if err = s.roundTrip(ctx, c.Conn(), steps...); err == nil {
				return c, nil
			}
			s.abandon(c)
		}
		if taken || !isBroken(err) && !isConflict(err) || !d.wait(ctx, s.timeout) {
			return nil, cmp.Or(ctx.Err(), explain(err))
		}
	}
}

// abandon rolls back what runs on a connection and gives it back.
func (s *Store) abandon(c *pgxpool.Conn) {
	if !c.Conn().IsClosed() && c.Conn().PgConn().TxStatus() != 'I' {
		ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
		defer cancel()
		_ = s.roundTrip(ctx, c.Conn(), do(rollback)) // if that fails, the pool closes the connection
	}
	c.Release()
}
