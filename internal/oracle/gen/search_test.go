package gen

import (
	"fmt"
	"iter"
	"strings"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/internal/oracle/ours"
	"github.com/foliofs/folio/sqlitefile"
)

const (
	samples = 8 // searches of each sort in an index
	stretch = 6 // entries that are compared from where a seek leads
)

type (
	findFunc   func(key ...any) (sqlitefile.Row, bool, error)
	prefixFunc func(key ...any) iter.Seq2[sqlitefile.Row, error]
)

// index compares all ways to read an index.
func (c *comparison) index(o *order) error {
	x, err := c.rx.Index(o.name)
	if err != nil {
		return err
	}
	if x.Table() != o.table.Name || len(x.Columns()) != o.fields {
		return fmt.Errorf("is of table %s, columns %v; want %s, %d", x.Table(), x.Columns(), o.table.Name, o.fields)
	}
	if err := c.rows(x.All(), o.entries, o.rowids, everything); err != nil {
		return fmt.Errorf("all: %w", err)
	}
	if err := c.rows(downwards(x.Cursor()), reversed(o.entries), reversed(o.rowids), everything); err != nil {
		return fmt.Errorf("backward: %w", err)
	}
	if err := c.search(o, x.FindRow, x.Prefix, x.Cursor); err != nil || o.rowids == nil {
		return err
	}
	return c.finds(x, o)
}

// downwards yields from the last entry to the first.
func downwards(cur *sqlitefile.Cursor) iter.Seq2[sqlitefile.Row, error] {
	return func(yield func(sqlitefile.Row, error) bool) {
		for ok, err := cur.Last(); ok || err != nil; ok, err = cur.Prev() {
			var row sqlitefile.Row
			if err == nil {
				row, err = cur.Row()
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// finds looks every entry up by all its values, the rowid only to break ties.
func (c *comparison) finds(x sqlitefile.Index, o *order) error {
	for i, entry := range o.entries {
		key := c.key(entry)
		id, ok, err := x.Find(key...)
		if err != nil || !ok {
			return fmt.Errorf("find entry %d: %v, %v", i, ok, err)
		}
		if id > o.rowids[i] { // the first of those that are equal in all columns
			return fmt.Errorf("find entry %d: rowid %d, want %d or one before", i, id, o.rowids[i])
		}
	}
	return nil
}

// key is an entry as arguments of the engine and of C SQLite.
func (c *comparison) key(entry []judge.Value) []any {
	key := make([]any, len(entry))
	for i, v := range entry {
		key[i] = ours.Key(v, c.enc)
	}
	return key
}

// search compares finds and prefixes by samples of the entries, and seeks by values that need not
// be there.
func (c *comparison) search(o *order, find findFunc, prefix prefixFunc, cursor func() *sqlitefile.Cursor) error {
	sample, err := c.sample(o)
	if err != nil {
		return err
	}
	for _, entry := range sample {
		n := 1 + c.rng.IntN(o.keys())
		if err := c.prefix(o, c.key(entry[:n]), find, prefix); err != nil {
			return err
		}
	}
	for range samples {
		probe := c.value()
		if len(sample) > 0 && c.rng.IntN(2) == 0 {
			probe = c.key(sample[c.rng.IntN(len(sample))][:1])[0]
		}
		if err := c.above(o, probe, cursor()); err != nil {
			return err
		}
	}
	return nil
}

// sample is the key of some entries.
func (c *comparison) sample(o *order) ([][]judge.Value, error) {
	q := o.from(" NOT INDEXED") + fmt.Sprintf(" ORDER BY hex(coalesce(%s, 0)) || %d LIMIT %d", o.terms[0].expr, c.spec.Seed, samples)
	return c.src.all(o.exprs()[:o.keys()], q)
}

// prefix compares the entries that begin with key.
func (c *comparison) prefix(o *order, key []any, find findFunc, prefix prefixFunc) error {
	var same []string
	for i := range key {
		same = append(same, fmt.Sprintf("%s IS ?%d", o.terms[i].bare(), i+1))
	}
	want, rowids, stored, err := c.expect(o, strings.Join(same, " AND "), key, all)
	if err != nil {
		return err
	}
	if err := c.rows(prefix(key...), want, rowids, stored); err != nil {
		return fmt.Errorf("prefix %.40v: %w", key, err)
	}
	row, ok, err := find(key...)
	if err != nil || ok != (len(want) > 0) {
		return fmt.Errorf("find %.40v: %v, %v", key, ok, err)
	}
	if !ok {
		return nil
	}
	if err := c.row(&row, want[0], stored); err != nil {
		return fmt.Errorf("find %.40v: %w", key, err)
	}
	return nil
}

// above compares some entries from the first that is not before probe.
func (c *comparison) above(o *order, probe any, cur *sqlitefile.Cursor) error {
	e := o.terms[0].bare()
	cond := e + " >= ?1"
	switch {
	case probe == nil && !o.terms[0].desc:
		cond = "?1 IS NULL"
	case probe == nil:
		cond = e + " IS ?1"
	case o.terms[0].desc:
		cond = "(" + e + " <= ?1 OR " + e + " IS NULL)"
	}
	want, rowids, stored, err := c.expect(o, cond, []any{probe}, stretch)
	if err != nil {
		return err
	}
	if err := c.rows(from(cur, probe), want, rowids, stored); err != nil {
		return fmt.Errorf("from %.40v: %w", probe, err)
	}
	return nil
}

// from yields a stretch of entries from the first that is not before key.
func from(cur *sqlitefile.Cursor, key any) iter.Seq2[sqlitefile.Row, error] {
	return func(yield func(sqlitefile.Row, error) bool) {
		n := 0
		for ok, err := cur.SeekKey(key); ok || err != nil; ok, err = cur.Next() {
			if n++; n > stretch {
				return
			}
			var row sqlitefile.Row
			if err == nil {
				row, err = cur.Row()
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// all is no limit to the entries that expect returns.
const all = -1

// expect asks C SQLite for the first entries that fulfil a condition, in order. In a table WITHOUT
// ROWID they are its rows.
func (c *comparison) expect(o *order, cond string, args []any, limit int) (want [][]judge.Value, rowids []int64, stored func(int) bool, err error) {
	exprs, stored := o.exprs(), everything
	if o == o.table.primary {
		exprs, stored = o.table.exprs(), o.table.stored
	}
	want, err = c.src.all(exprs, o.from(" NOT INDEXED")+" AND "+cond+o.sorted()+fmt.Sprintf(" LIMIT %d", limit), args...)
	if err == nil && !o.table.WithoutRowid {
		want, rowids = splitRowids(want)
	}
	return want, rowids, stored, err
}
