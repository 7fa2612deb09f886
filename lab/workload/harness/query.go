package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/foliofs/folio/lab/workload"
)

type sqlQueries struct {
	driver Driver
	job    *workload.Job
}

func (d Driver) queries(j *workload.Job) (workload.Queries, error) { return &sqlQueries{d, j}, nil }

func (q *sqlQueries) Close() error { return nil }

// Querier opens a connection, and prepares the statement if it is to be kept so.
func (q *sqlQueries) Querier(s *workload.Statement, mode string) (workload.Querier, error) {
	c, err := q.driver.Open(q.job.DB, Read)
	if err != nil {
		return nil, err
	}
	if size := q.job.Values["mmap"]; size != "" && size != "0" {
		if _, err := text(c, "PRAGMA mmap_size = "+size); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	out := &sqlQuerier{conn: c, statement: s}
	if mode == "prepared" {
		out.prepares++
		out.stmt, err = c.Prepare(s.SQL, s.Columns)
	}
	return out, err
}

// A sqlQuerier is a statement on a connection, and counts how often it was prepared.
type sqlQuerier struct {
	conn      Conn
	statement *workload.Statement
	stmt      Stmt // nil if the statement is prepared for each query
	prepares  int64
}

func (q *sqlQuerier) Query(args []workload.Value, row func(workload.Row) error) error {
	if q.stmt != nil {
		return q.stmt.Run(args, row)
	}
	q.prepares++
	return q.conn.Raw(q.statement.SQL, q.statement.Columns, args, row)
}

func (q *sqlQuerier) Begin() error { return exec(q.conn, "BEGIN") }

func (q *sqlQuerier) End() error { return exec(q.conn, "COMMIT") }

func (q *sqlQuerier) Settings() (map[string]string, error) { return readSettings(q.conn) }

func (q *sqlQuerier) Prepares() int64 { return q.prepares }

func (q *sqlQuerier) Close() error {
	if q.stmt == nil {
		return q.conn.Close()
	}
	return errors.Join(q.stmt.Close(), q.conn.Close())
}

// aSecond is a little more than that: SQLite's clock of a statement shows seconds.
const aSecond = 1100 * time.Millisecond

// Probe runs the user's statement with every argument, by database/sql, which tells the columns. It
// does so a second time, a second later, to make sure that the answers are the same.
func (p Pool) Probe(q *workload.Probe) (*workload.Statement, error) {
	c, err := p.Open(q.DB, Read)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	conn := c.(*sqlConn)
	s := &workload.Statement{SQL: q.SQL, Args: [][]workload.Value{nil}}
	if q.ArgsFrom != "" {
		if s.Args, err = conn.arguments(q.ArgsFrom, q.Limit); err != nil {
			return nil, fmt.Errorf("--args-from: %w", err)
		}
	}
	if len(s.Args) == 0 {
		return nil, errors.New("--args-from returns nothing")
	}
	if n := len(s.Args[0]); n != q.Params {
		return nil, fmt.Errorf("--args-from returns %d columns, --query has %d parameters", n, q.Params)
	}
	began := time.Now()
	if s.Answers, err = conn.answers(s); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(s.Answers, func(a workload.Answer) bool { return a.Count > 0 }) {
		return nil, fmt.Errorf("--query returns nothing, for none of %d arguments", len(s.Args))
	}
	time.Sleep(time.Until(began.Add(aSecond)))
	again, err := conn.answers(s)
	if err == nil && !slices.Equal(again, s.Answers) {
		err = errors.New("--query finds something else each time it runs, as with random() or the time, so its answers cannot be checked")
	}
	return s, err
}

// arguments reads rows of a query as arguments.
func (c *sqlConn) arguments(query string, limit int) (all [][]workload.Value, err error) {
	rows, err := c.conn.QueryContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	cells, dest := make([]any, len(names)), make([]any, len(names))
	for i := range cells {
		dest[i] = &cells[i]
	}
	for len(all) < limit && rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return nil, err
		}
		args := make([]workload.Value, len(cells))
		for i, v := range cells {
			if args[i], err = argument(v); err != nil {
				return nil, fmt.Errorf("column %s: %w", names[i], err)
			}
		}
		all = append(all, args)
	}
	return all, rows.Err()
}

func argument(v any) (workload.Value, error) {
	switch v := v.(type) {
	case int64:
		return workload.Int(v), nil
	case string:
		if utf8.ValidString(v) {
			return workload.Str(v), nil
		}
		return workload.Value{}, errors.New("arguments are integers and texts in UTF-8, which one of these is not; leave it out in the query")
	case []byte:
		return workload.Value{}, errors.New("arguments are integers and texts, not a BLOB; take hex of it here and in --query")
	case nil:
		return workload.Value{}, errors.New("arguments are integers and texts, not NULL; leave it out in the query")
	}
	return workload.Value{}, fmt.Errorf("arguments are integers and texts, not %T; cast it in the query", v)
}

// answers runs the statement with each of its arguments.
func (c *sqlConn) answers(s *workload.Statement) (all []workload.Answer, err error) {
	for _, args := range s.Args {
		a, err := c.answer(s, args)
		if err != nil {
			return nil, fmt.Errorf("--query: %w", err)
		}
		all = append(all, a)
	}
	return all, nil
}

// answer runs the statement once, and notes its columns.
func (c *sqlConn) answer(s *workload.Statement, args []workload.Value) (a workload.Answer, err error) {
	rows, err := c.conn.QueryContext(context.Background(), s.SQL, c.call.Args(args)...)
	if err != nil {
		return a, err
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return a, err
	}
	s.Loose = s.Loose[:0]
	for _, t := range types {
		s.Loose = append(s.Loose, workload.Loose(t.DatabaseTypeName()))
	}
	s.Columns = slices.Repeat([]workload.Kind{workload.Text}, len(types)) // which every value can be read as
	c.call.Aim(s.Columns)
	return a, c.call.Take(rows, func(r workload.Row) error {
		a.AddRow(r, s.Loose)
		return nil
	})
}
