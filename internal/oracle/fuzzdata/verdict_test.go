package fuzzdata

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/foliofs/folio/internal/oracle/judge"
)

// A verdict is C SQLite's answer about an image. The child process sends it to the test.
type verdict struct {
	Code      int      // of the error that kept it from being read at all, or 0
	Err       string   // that error
	Lenient   bool     // part of the schema was refused; this is about the rest of it
	SchemaErr string   // why part of the schema was refused
	Integrity []string // lines of integrity_check, "ok" if that is all there is to say
	Tables    []reading
	Indexes   []reading
	Died      string // how the child ended, if it did not answer
	Spared    int    // tables and indexes that only C SQLite's lenience lets it read
}

// A reading is all that came out of one table or index.
type reading struct {
	Name  string
	Table string // of an index
	Rows  int
	Sum   string
	Code  int    // of the error that ended it, or 0
	Err   string // that error
}

// patience is how long C SQLite may work on one statement.
const patience = 3 * time.Second

// judgeImage asks C SQLite about an image.
func judgeImage(bytes []byte) *verdict {
	v := new(verdict)
	if v.read(bytes); v.refusedSchema() {
		strict := *v
		*v = verdict{Lenient: true, SchemaErr: strict.Err}
		v.read(bytes)
	}
	return v
}

// refusedSchema tells whether a statement in sqlite_schema, rather than a page, is the reason that
// nothing can be read.
func (v *verdict) refusedSchema() bool {
	return v.Code != 0 && strings.Contains(v.Err, "malformed database schema")
}

// read fills v by a connection of its own.
func (v *verdict) read(bytes []byte) {
	c, err := judge.Open("file::memory:")
	if err == nil {
		defer c.Close()
		err = c.Deserialize(rollbackMode(bytes))
	}
	if err == nil && v.Lenient {
		err = c.Exec("PRAGMA writable_schema = ON")
	}
	if err == nil {
		v.Integrity, err = integrity(c)
	}
	if err == nil {
		err = v.readTables(c)
	}
	if err != nil {
		v.Code, v.Err = codeOf(err), err.Error()
	}
}

// rollbackMode is an image with the marks of WAL mode taken off: a database in memory cannot have
// it, and an image has no log.
func rollbackMode(image []byte) []byte {
	if len(image) > 20 && image[19] == 2 {
		image = append([]byte(nil), image...)
		image[19] = 1
		if image[18] == 2 {
			image[18] = 1
		}
	}
	return image
}

func integrity(c *judge.Conn) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return c.Strings(ctx, "PRAGMA integrity_check(50)")
}

// readTables reads every table, and every index that holds no more than columns.
func (v *verdict) readTables(c *judge.Conn) error {
	ctx := context.Background()
	tables, err := c.Tables(ctx)
	if err != nil {
		return err
	}
	for _, t := range tables {
		v.Tables = append(v.Tables, readTable(c, t))
		indexes, err := c.Indexes(ctx, t)
		if err != nil {
			continue
		}
		for _, x := range indexes {
			if r, ok := readIndex(c, t, x); ok {
				v.Indexes = append(v.Indexes, r)
			}
		}
	}
	return nil
}

func readTable(c *judge.Conn, t judge.Table) reading {
	r := reading{Name: t.Name}
	from, err := c.Scan(context.Background(), t)
	if err != nil {
		r.fail(err)
		return r
	}
	var exprs []string
	for _, col := range t.Columns {
		if !col.Virtual() {
			exprs = append(exprs, judge.Quote(col.Name))
		}
	}
	if rowid, ok := t.RowidName(); ok && !t.WithoutRowid {
		exprs = append(exprs, rowid)
	}
	r.read(c, exprs, from, !t.WithoutRowid)
	return r
}

// readIndex reads an index in its order, unless it is partial or has an expression, or SQLite would
// not read it so.
func readIndex(c *judge.Conn, t judge.Table, x judge.Index) (r reading, ok bool) {
	if x.Partial || x.Primary {
		return r, false
	}
	r = reading{Name: x.Name, Table: t.Name}
	var exprs, order []string
	for _, col := range x.Columns {
		e := judge.Quote(col.Name)
		if col.Column == -2 {
			return r, false
		}
		if col.Column == -1 {
			e, _ = t.RowidName()
		}
		exprs = append(exprs, e)
		e += " COLLATE " + judge.Quote(col.Collation)
		if col.Desc {
			e += " DESC"
		}
		order = append(order, e)
	}
	from := judge.Quote(t.Name) + " INDEXED BY " + judge.Quote(x.Name) + " ORDER BY " + strings.Join(order, ", ")
	r.read(c, exprs, from, !t.WithoutRowid)
	return r, r.Code != judge.CodeError
}

// read digests the rows of a query. With rowid the last column is that.
func (r *reading) read(c *judge.Conn, exprs []string, from string, rowid bool) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	d := judge.NewDigest()
	for row, err := range c.Select(ctx, exprs, from) {
		if err != nil {
			r.fail(err)
			break
		}
		id := int64(0)
		if rowid {
			id, row = row[len(row)-1].Int, row[:len(row)-1]
		}
		d.Row(id, row)
	}
	r.Rows, r.Sum = d.Rows, d.Sum()
}

func (r *reading) fail(err error) { r.Code, r.Err = codeOf(err), err.Error() }

// Codes of our own for results that are no errors of C SQLite.
const (
	codeTimeout = -1
	codeOther   = -2
)

func codeOf(err error) int {
	if errors.Is(err, context.DeadlineExceeded) {
		return codeTimeout
	}
	if code := judge.Code(err); code != 0 {
		return code
	}
	return codeOther
}

func (v *verdict) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "code %d %s %s; integrity %q", v.Code, v.Err, v.SchemaErr, v.Integrity)
	for _, t := range v.Tables {
		fmt.Fprintf(&b, "; table %q %d rows %x code %d %s", t.Name, t.Rows, t.Sum, t.Code, t.Err)
	}
	for _, t := range v.Indexes {
		fmt.Fprintf(&b, "; index %q %d rows %x code %d %s", t.Name, t.Rows, t.Sum, t.Code, t.Err)
	}
	return b.String()
}
