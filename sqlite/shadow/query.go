package shadow

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/foliofs/folio/internal/sql/syntax"
	"github.com/foliofs/folio/sqlitefile"
)

const (
	maxKept    = 100    // rows of an answer in a report
	maxDrained = 10_000 // rows that are read to compare them, if the program closes its rows before the end
	maxTries   = 5      // to begin both transactions with the same content
)

// QueryContext runs a query by the driver "folio" and, if it is a SELECT, by the other one.
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if p, failed := syntax.Parse(query); c.within || failed != nil || !isSelect(p) {
		return c.ask(ctx, query, args)
	}
	end, ok := c.begin(ctx)
	if !ok {
		c.c.skipped.Add(1)
		return c.ask(ctx, query, args)
	}
	r := &rows{c: c, query: query, args: args, end: end, ours: &answer{}, theirs: &answer{}}
	rows, err := c.ask(ctx, query, args)
	r.askTheirs(ctx)
	if err != nil {
		r.ours.failed = err
		r.finish()
		return nil, err
	}
	r.Rows = rows
	return r, nil
}

func (c *conn) ask(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

func isSelect(p *syntax.Parsed) bool {
	_, ok := p.Statement.(*syntax.Select)
	return ok && p.Explain == 0
}

// begin begins a transaction of each driver with the same content: the version of the file is the
// same before both and behind. It reports whether that succeeded.
func (c *conn) begin(ctx context.Context) (end func(), ok bool) {
	for range maxTries {
		before, err := c.c.file.BeginView(ctx)
		if err != nil {
			return nil, false
		}
		end, err := c.beginBoth(ctx)
		if err != nil {
			before.End()
			return nil, false
		}
		same := false
		_ = c.c.file.View(ctx, func(rx *sqlitefile.Rx) error {
			same = rx.Version() == before.Version()
			return nil
		})
		if before.End(); same {
			return end, true
		}
		end()
	}
	return nil, false
}

// beginBoth begins the transactions, each with a query that takes its snapshot.
func (c *conn) beginBoth(ctx context.Context) (end func(), err error) {
	const first = "SELECT 1 FROM sqlite_schema LIMIT 1"
	if c.theirs == nil {
		if c.theirs, err = c.c.theirs.Conn(ctx); err != nil {
			return nil, err
		}
	}
	tx, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, driver.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	end = func() {
		_ = tx.Rollback()
		_, _ = c.theirs.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	}
	rows, err := c.ask(ctx, first, nil)
	if err == nil {
		if err = rows.Next(make([]driver.Value, 1)); err == io.EOF {
			err = nil
		}
		err = errors.Join(err, rows.Close())
	}
	if err == nil {
		_, err = c.theirs.ExecContext(ctx, "BEGIN")
	}
	if err == nil {
		var one int
		if err = c.theirs.QueryRowContext(ctx, first).Scan(&one); errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
	}
	if err != nil {
		end()
		return nil, err
	}
	return end, nil
}

// rows are the rows of the driver "folio", which are compared in the end with those of the other.
type rows struct {
	driver.Rows
	c            *conn
	query        string
	args         []driver.NamedValue
	end          func() // of the transactions
	ours, theirs *answer
	ended        bool
}

func (r *rows) Next(dest []driver.Value) error {
	err := r.Rows.Next(dest)
	switch {
	case err == io.EOF:
		r.ended = true
	case err != nil:
		r.ours.failed = err
		r.ended = true
	default:
		r.ours.add(dest)
	}
	return err
}

// Close reads the rest of the rows, if there is not too much, compares, and ends the transactions.
func (r *rows) Close() error {
	if r.end == nil {
		return nil
	}
	row := make([]driver.Value, len(r.Columns()))
	for range maxDrained {
		if r.ended {
			break
		}
		_ = r.Next(row)
	}
	err := r.Rows.Close()
	r.finish()
	return err
}

// askTheirs runs the query by the other driver.
func (r *rows) askTheirs(ctx context.Context) {
	args := make([]any, len(r.args))
	for i, a := range r.args {
		if args[i] = a.Value; a.Name != "" {
			args[i] = sql.Named(a.Name, a.Value)
		}
	}
	list, err := r.c.theirs.QueryContext(ctx, r.query, args...)
	if err != nil {
		r.theirs.failed = err
		return
	}
	defer list.Close()
	names, err := list.Columns()
	if err != nil {
		r.theirs.failed = err
		return
	}
	row, values, dest := make([]driver.Value, len(names)), make([]any, len(names)), make([]any, len(names))
	for i := range values {
		dest[i] = &values[i]
	}
	for list.Next() {
		if err := list.Scan(dest...); err != nil {
			r.theirs.failed = err
			return
		}
		for i, v := range values {
			row[i] = v
		}
		r.theirs.add(row)
	}
	if err := list.Err(); err != nil {
		r.theirs.failed = err
	}
}

// finish ends the transactions and compares the answers.
func (r *rows) finish() {
	r.end()
	r.end = nil
	c := r.c.c
	switch {
	case !r.ended && r.ours.failed == nil, refused(r.ours.failed), passing(r.ours.failed), passing(r.theirs.failed):
		c.skipped.Add(1)
	case (r.ours.failed != nil) == (r.theirs.failed != nil) && (r.ours.failed != nil || r.ours.sum == r.theirs.sum && r.ours.count == r.theirs.count):
		c.equal.Add(1)
	default:
		c.different.Add(1)
		c.report(&Difference{Query: r.shown(), Ours: r.ours.String(), Theirs: r.theirs.String()})
	}
}

// shown returns the query with its arguments.
func (r *rows) shown() string {
	text := r.query
	for _, a := range r.args {
		text += fmt.Sprintf("; %s%d = %s", a.Name, a.Ordinal, shown(a.Value))
	}
	return text
}

func refused(err error) bool {
	return err != nil && strings.HasPrefix(err.Error(), "not supported yet")
}

// passing reports whether an error says nothing about the query: it was cancelled, or another
// connection holds a lock.
func passing(err error) bool {
	if err == nil {
		return false
	}
	text := err.Error()
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		strings.Contains(text, "interrupt") || strings.Contains(text, "locked") || strings.Contains(text, "disk I/O error")
}

// An answer is an error, or rows, which are counted and whose hashes are summed.
type answer struct {
	failed error
	count  int
	sum    [4]uint64
	rows   [][]driver.Value // the first of them
}

// String returns the answer as a text for a report.
func (a *answer) String() string {
	if a.failed != nil {
		return a.failed.Error()
	}
	return fmt.Sprintf("%d rows: %v", a.count, a.rows)
}

func (a *answer) add(row []driver.Value) {
	h := sha256.New()
	kept := make([]driver.Value, len(row))
	for i, v := range row {
		if b, ok := v.([]byte); ok {
			v = append([]byte{}, b...)
		}
		kept[i] = v
		fmt.Fprint(h, shown(v), ",")
	}
	for i, b := range h.Sum(nil) {
		a.sum[i/8] += uint64(b) << (8 * (i % 8))
	}
	if a.count++; a.count <= maxKept {
		a.rows = append(a.rows, kept)
	}
}

// shown returns a text that differs for other types and values.
func shown(v driver.Value) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("text %q", v)
	case []byte:
		return fmt.Sprintf("blob %x", v)
	case float64:
		return fmt.Sprintf("real %x", math.Float64bits(v))
	case time.Time:
		return "time " + v.UTC().Format(time.RFC3339Nano)
	}
	return fmt.Sprintf("%T %v", v, v)
}
