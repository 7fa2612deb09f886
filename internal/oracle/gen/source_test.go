package gen

import (
	"context"
	"fmt"
	"strings"

	"github.com/foliofs/folio/internal/oracle/judge"
)

// A source is C SQLite's description of one database.
type source struct {
	conn    *judge.Conn
	tables  []*table
	objects [][]judge.Value // rows of sqlite_schema
}

// A table is a table with all rows in the order in which they are stored.
type table struct {
	judge.Table
	rows    [][]judge.Value // stored columns only
	rowids  []int64         // of rows; nil in a table WITHOUT ROWID
	primary *order          // the order of a table WITHOUT ROWID
	indexes []*order
}

// stored tells whether column i is in the file.
func (t *table) stored(i int) bool { return i >= len(t.Columns) || !t.Columns[i].Virtual() }

// exprs are the stored columns.
func (t *table) exprs() []string {
	var exprs []string
	for _, c := range t.Columns {
		if !c.Virtual() {
			exprs = append(exprs, judge.Quote(c.Name))
		}
	}
	return exprs
}

// An order is an index, or the primary key of a table WITHOUT ROWID: entries and how they are
// sorted.
type order struct {
	name    string
	table   *table
	terms   []term
	where   string // a condition that an entry's row fulfils; "1" for a whole index
	entries [][]judge.Value
	rowids  []int64 // nil in a table WITHOUT ROWID
	fields  int     // how many of the terms the engine shows
}

// A term is one column of an order.
type term struct {
	expr      string
	collation string
	desc      bool
	key       bool
}

// sorted is the term as part of an ORDER BY.
func (t term) sorted() string {
	s := t.expr + " COLLATE " + judge.Quote(t.collation)
	if t.desc {
		s += " DESC"
	}
	return s
}

// bare is the term without affinity, so that a comparison with an argument converts neither.
func (t term) bare() string { return "(+(" + t.expr + ")) COLLATE " + judge.Quote(t.collation) }

var ctx = context.Background()

// readSource reads everything.
func readSource(path string) (*source, error) {
	c, err := judge.Open("file:" + path + "?mode=ro")
	if err != nil {
		return nil, err
	}
	s := &source{conn: c}
	if s.objects, err = s.all([]string{"type", "name", "tbl_name", "rootpage", "sql"}, "sqlite_schema"); err != nil {
		return nil, err
	}
	tables, err := c.Tables(ctx)
	if err != nil {
		return nil, err
	}
	for _, jt := range tables {
		t := &table{Table: jt}
		if err := s.read(t); err != nil {
			return nil, fmt.Errorf("table %s: %w", t.Name, err)
		}
		s.tables = append(s.tables, t)
	}
	return s, nil
}

// all collects the rows of a Select.
func (s *source) all(exprs []string, from string, args ...any) ([][]judge.Value, error) {
	var rows [][]judge.Value
	for row, err := range s.conn.Select(ctx, exprs, from, args...) {
		if err != nil {
			return nil, err
		}
		rows = append(rows, append([]judge.Value(nil), row...))
	}
	return rows, nil
}

// read fills t by a scan that uses no index.
func (s *source) read(t *table) (err error) {
	exprs := t.exprs()
	rowid, ok := t.RowidName()
	if !ok && !t.WithoutRowid {
		return fmt.Errorf("no name for its rowid")
	}
	if !t.WithoutRowid {
		exprs = append(exprs, rowid)
	}
	from, err := s.conn.Scan(ctx, t.Table)
	if err != nil {
		return err
	}
	if t.rows, err = s.all(exprs, from); err != nil {
		return err
	}
	if !t.WithoutRowid {
		t.rows, t.rowids = splitRowids(t.rows)
	}
	return s.readOrders(t)
}

// splitRowids takes the last column off.
func splitRowids(rows [][]judge.Value) ([][]judge.Value, []int64) {
	ids := make([]int64, len(rows))
	for i, row := range rows {
		last := len(row) - 1
		ids[i] = row[last].Int
		rows[i] = row[:last]
	}
	return rows, ids
}

func (s *source) readOrders(t *table) error {
	indexes, err := s.conn.Indexes(ctx, t.Table)
	if err != nil {
		return err
	}
	for _, x := range indexes {
		o, err := s.order(t, x)
		if err != nil {
			return fmt.Errorf("index %s: %w", x.Name, err)
		}
		if x.Primary {
			o.name, t.primary = t.Name, o
		} else {
			t.indexes = append(t.indexes, o)
		}
	}
	return nil
}

// order reads an index in its own order.
func (s *source) order(t *table, x judge.Index) (*order, error) {
	o := &order{name: x.Name, table: t, where: "1"}
	exprs, _ := Expressions(x.Name)
	for i, c := range x.Columns {
		e := judge.Quote(c.Name)
		switch c.Column {
		case -1:
			e, _ = t.RowidName()
		case -2:
			e = exprs[i]
		}
		o.terms = append(o.terms, term{e, c.Collation, c.Desc, c.Key})
	}
	if x.Partial {
		where, err := s.partial(x.Name)
		if err != nil {
			return nil, err
		}
		o.where = where
	}
	if x.Primary { // the table's own order; its rows are read already
		o.fields = len(o.terms)
		return o, nil
	}
	rows, err := s.all(o.exprs(), o.from(" INDEXED BY "+judge.Quote(x.Name))+o.sorted())
	if err != nil {
		return nil, err
	}
	o.take(rows)
	return o, nil
}

// take keeps rows that hold the terms as the order's entries.
func (o *order) take(rows [][]judge.Value) {
	o.fields = len(o.terms)
	o.entries = rows
	if !o.table.WithoutRowid {
		o.fields--
		o.entries, o.rowids = splitRowids(rows)
	}
}

func (o *order) exprs() []string {
	var exprs []string
	for _, t := range o.terms {
		exprs = append(exprs, t.expr)
	}
	return exprs
}

func (o *order) from(hint string) string {
	return judge.Quote(o.table.Name) + hint + " WHERE (" + o.where + ")"
}

func (o *order) sorted() string {
	var terms []string
	for _, t := range o.terms {
		terms = append(terms, t.sorted())
	}
	return " ORDER BY " + strings.Join(terms, ", ")
}

// keys is how many terms a search may name.
func (o *order) keys() int {
	n := 0
	for n < len(o.terms) && o.terms[n].key {
		n++
	}
	return n
}

// partial is the condition of a partial index, whose statement this package wrote.
func (s *source) partial(index string) (string, error) {
	sql, err := s.conn.Strings(ctx, "SELECT sql FROM sqlite_schema WHERE name = ?", index)
	if err != nil {
		return "", err
	}
	_, where, _ := strings.Cut(strings.Join(sql, ""), " WHERE ")
	return where, nil
}
