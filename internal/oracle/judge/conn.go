// Package judge is C SQLite as the reference: raw values, in the order and with the bytes in which
// they are stored.
//
// A Conn is not safe for concurrent use.
package judge

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"iter"
	"strings"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// Result codes of C SQLite that tests tell apart.
const (
	CodeError   = 1
	CodeCorrupt = 11
	CodeFull    = 13
	CodeTooBig  = 18
	CodeNotADB  = 26
)

// Extended result codes of constraints.
const (
	CodeConstraintCheck      = 275
	CodeConstraintForeignKey = 787
	CodeConstraintNotNull    = 1299
	CodeConstraintPrimary    = 1555
	CodeConstraintTrigger    = 1811
	CodeConstraintUnique     = 2067
	CodeConstraintRowid      = 2579
	CodeConstraintType       = 3091
)

// Code is the primary result code of an error that came from C SQLite, or 0.
func Code(err error) int { return code(err) & 0xff }

// Extended is the extended result code of an error that came from C SQLite, wrapped or not, or 0.
// Its lowest byte is the primary one.
func Extended(err error) int { return extended(err) }

// Conn is one connection to C SQLite, without a pool above it.
type Conn struct {
	driver driver.Conn
}

// Open opens a file name or a file: URI.
func Open(name string) (*Conn, error) {
	c, err := (&sqlite3.SQLiteDriver{}).Open(name)
	if err != nil {
		return nil, err
	}
	return &Conn{driver: c}, nil
}

// Close closes the connection.
func (c *Conn) Close() error { return c.driver.Close() }

// Exec runs statements, separated by semicolons.
func (c *Conn) Exec(query string, args ...any) error {
	_, err := c.driver.(driver.ExecerContext).ExecContext(context.Background(), query, named(args))
	if err != nil {
		return fmt.Errorf("%.200s: %w", query, err)
	}
	return nil
}

// Stmt is a prepared statement.
type Stmt struct{ driver driver.Stmt }

// Prepare prepares a statement.
func (c *Conn) Prepare(query string) (*Stmt, error) {
	s, err := c.driver.Prepare(query)
	if err != nil {
		return nil, fmt.Errorf("%.200s: %w", query, err)
	}
	return &Stmt{driver: s}, nil
}

// Exec runs the statement with args bound.
func (s *Stmt) Exec(args ...any) error {
	_, err := s.driver.(driver.StmtExecContext).ExecContext(context.Background(), named(args))
	return err
}

// Run runs the statement with args bound, and returns how many rows it changed and the last rowid
// that it gave out.
func (s *Stmt) Run(args ...any) (changed, last int64, err error) {
	result, err := s.driver.(driver.StmtExecContext).ExecContext(context.Background(), named(args))
	if err != nil {
		return 0, 0, err
	}
	changed, _ = result.RowsAffected()
	last, _ = result.LastInsertId()
	return changed, last, nil
}

// Close finalises the statement.
func (s *Stmt) Close() error { return s.driver.Close() }

// Rows yields the rows of a query. The slice and its bytes are the callee's until the next row. An
// error is the last thing that it yields.
func (c *Conn) Rows(ctx context.Context, query string, args ...any) iter.Seq2[[]driver.Value, error] {
	return func(yield func([]driver.Value, error) bool) {
		rows, err := c.driver.(driver.QueryerContext).QueryContext(ctx, query, named(args))
		if err != nil {
			yield(nil, err)
			return
		}
		defer rows.Close()
		row := make([]driver.Value, len(rows.Columns()))
		for {
			err := rows.Next(row)
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// Strings is the first column of all rows of a query, as text.
func (c *Conn) Strings(ctx context.Context, query string, args ...any) ([]string, error) {
	var all []string
	for row, err := range c.Rows(ctx, query, args...) {
		if err != nil {
			return all, err
		}
		all = append(all, fmt.Sprint(row[0]))
	}
	return all, nil
}

// Quote is name as an identifier of SQL.
func Quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func named(args []any) []driver.NamedValue {
	out := make([]driver.NamedValue, len(args))
	for i, a := range args {
		out[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	return out
}
