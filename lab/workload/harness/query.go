package harness

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/foliofs/folio/lab/workload"
)

// Probe runs the user's statement with every argument, by database/sql, which tells the columns.
func (p Pool) Probe(q *workload.Probe) (*workload.Statement, error) {
	c, err := p.Open(q.DB, Read)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	conn := c.(*sqlConn)
	s := &workload.Statement{SQL: q.SQL, Args: [][]workload.Arg{nil}}
	if q.ArgsFrom != "" {
		if s.Args, err = conn.arguments(q.ArgsFrom, q.Limit); err != nil {
			return nil, fmt.Errorf("--args-from: %w", err)
		}
	}
	if len(s.Args) == 0 {
		return nil, errors.New("--args-from returns nothing")
	}
	total := int64(0)
	if n := len(s.Args[0]); n != q.Params {
		return nil, fmt.Errorf("--args-from returns %d columns, --query has %d parameters", n, q.Params)
	}
	began := time.Now()
	for _, args := range s.Args {
		a, err := conn.answer(s, args)
		if err != nil {
			return nil, fmt.Errorf("--query: %w", err)
		}
		s.Answers, total = append(s.Answers, a), total+a.Count
	}
	if total == 0 {
		return nil, fmt.Errorf("--query returns nothing, for none of %d arguments", len(s.Args))
	}
	time.Sleep(time.Until(began.Add(aSecond)))
	return s, conn.again(s)
}

// aSecond is a little more than that: SQLite's clock of a statement shows seconds.
const aSecond = 1100 * time.Millisecond

// again makes sure that the answers are the same another time, a second later.
func (c *sqlConn) again(s *workload.Statement) error {
	for i, args := range s.Args {
		a, err := c.answer(s, args)
		if err != nil {
			return fmt.Errorf("--query: %w", err)
		}
		if a != s.Answers[i] {
			return errors.New("--query finds something else each time it runs, as with random() or the time, so its answers cannot be checked")
		}
	}
	return nil
}

// arguments reads rows of a query as arguments.
func (c *sqlConn) arguments(query string, limit int) (all [][]workload.Arg, err error) {
	rows, err := c.conn.QueryContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values, dest := make([]any, len(names)), make([]any, len(names))
	for i := range dest {
		dest[i] = &values[i]
	}
	for len(all) < limit && rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return nil, err
		}
		args := make([]workload.Arg, len(values))
		for i, v := range values {
			if args[i], err = argument(v); err != nil {
				return nil, fmt.Errorf("column %s: %w", names[i], err)
			}
		}
		all = append(all, args)
	}
	return all, rows.Err()
}

func argument(v any) (workload.Arg, error) {
	switch v := v.(type) {
	case int64:
		return workload.Arg{Int: &v}, nil
	case string:
		if !utf8.ValidString(v) {
			return workload.Arg{}, errors.New("arguments are integers and texts in UTF-8, which one of these is not; leave it out in the query")
		}
		return workload.Arg{Text: v}, nil
	case []byte:
		return workload.Arg{}, errors.New("arguments are integers and texts, not a BLOB; take hex of it here and in --query")
	case nil:
		return workload.Arg{}, errors.New("arguments are integers and texts, not NULL; leave it out in the query")
	}
	return workload.Arg{}, fmt.Errorf("arguments are integers and texts, not %T; cast it in the query", v)
}

// answer runs the statement once, and notes its columns.
func (c *sqlConn) answer(s *workload.Statement, args []workload.Arg) (a workload.Answer, err error) {
	rows, err := c.conn.QueryContext(context.Background(), s.SQL, c.call.Args(values(args, nil))...)
	if err != nil {
		return a, err
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return a, err
	}
	s.Columns, s.Loose = len(types), s.Loose[:0]
	for _, t := range types {
		s.Loose = append(s.Loose, workload.Loose(t.DatabaseTypeName()))
	}
	cells, dest := make([]sql.RawBytes, len(types)), make([]any, len(types))
	row := make([][]byte, len(types))
	for i := range dest {
		dest[i] = &cells[i]
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return a, err
		}
		for i, c := range cells {
			row[i] = c
		}
		a.AddRow(row, s.Loose)
	}
	return a, rows.Err()
}

// values puts arguments into the harness's form.
func values(args []workload.Arg, out []workload.Value) []workload.Value {
	for _, a := range args {
		if a.Int != nil {
			out = append(out, workload.Int(*a.Int))
		} else {
			out = append(out, workload.Str(a.Text))
		}
	}
	return out
}

type sqlQueries struct {
	driver Driver
	db     string
}

func (d Driver) queries(j *workload.Job) (workload.Queries, error) { return &sqlQueries{d, j.DB}, nil }

func (q *sqlQueries) Close() error { return nil }

// Querier opens a connection. Every column is read as a text.
func (q *sqlQueries) Querier(s *workload.Statement, mode string) (workload.Querier, error) {
	c, err := q.driver.Open(q.db, Read)
	if err != nil {
		return nil, err
	}
	out := &sqlQuerier{conn: c, query: s.SQL, columns: make([]workload.Kind, s.Columns), cells: make([][]byte, s.Columns)}
	for i := range out.columns {
		out.columns[i] = workload.Text
	}
	out.take = func(r workload.Row) error {
		for i := range out.cells {
			out.cells[i] = append(out.cells[i][:0], r.Bytes(i)...)
		}
		return out.row(out.cells)
	}
	if mode == "prepared" {
		out.prepares++
		out.stmt, err = c.Prepare(s.SQL, out.columns)
	}
	return out, err
}

// A sqlQuerier is one connection. Its cells are copies, as Bytes may use one buffer for all.
type sqlQuerier struct {
	conn     Conn
	query    string
	columns  []workload.Kind
	stmt     Stmt // nil if it runs raw
	prepares int64
	args     []workload.Value
	cells    [][]byte
	row      func([][]byte) error
	take     func(workload.Row) error
}

func (q *sqlQuerier) Query(args []workload.Arg, row func([][]byte) error) error {
	q.args, q.row = values(args, q.args[:0]), row
	if q.stmt != nil {
		return q.stmt.Run(q.args, q.take)
	}
	q.prepares++
	return q.conn.Raw(q.query, q.columns, q.args, q.take)
}

func (q *sqlQuerier) Settings() (map[string]string, error) { return readSettings(q.conn) }

func (q *sqlQuerier) Prepares() int64 { return q.prepares }

func (q *sqlQuerier) Close() error { return closeAll(q.stmt, q.conn) }
