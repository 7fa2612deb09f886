package sqlitefile

import (
	"iter"

	"github.com/foliofs/folio/internal/btree"
	"github.com/foliofs/folio/internal/record"
)

// A Bound is where a range of keys begins or ends. The zero Bound is none: the range begins with
// the first key, or ends with the last one.
type Bound struct {
	values    []any
	set       bool
	exclusive bool
}

// Including returns a bound at the keys that begin with the given values, at least one. These keys
// belong to the range.
func Including(values ...any) Bound { return Bound{values, true, false} }

// Excluding returns a bound at the keys that begin with the given values, at least one. These keys
// do not belong to the range.
func Excluding(values ...any) Bound { return Bound{values, true, true} }

// Range yields the entries between two bounds in the order of the index. For example, of an index
// on (city, name),
//
//	x.Range(Including("Bern"), Excluding("Bern", "M"))
//
// yields the entries of Bern whose names come before "M", and a zero [Bound] as the second one all
// that follow Bern, too. The order is that of the index: the keys of a column that is DESC go from
// the largest to the smallest. An error is yielded once, last.
func (x Index) Range(low, high Bound) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		var c Cursor
		x.setCursor(&c)
		c.yieldRange(low, high, yield)
	}
}

// RangeBackward yields the entries of Range in the opposite order: it begins at high.
func (x Index) RangeBackward(low, high Bound) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		var c Cursor
		x.setCursor(&c)
		c.yieldRangeBackward(low, high, yield)
	}
}

// Backward yields every entry in the opposite order.
func (x Index) Backward() iter.Seq2[Row, error] { return x.RangeBackward(Bound{}, Bound{}) }

// RangeKey yields the rows of a table WITHOUT ROWID whose primary keys are between two bounds, as
// [Index.Range] does.
func (t Table) RangeKey(low, high Bound) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		var c Cursor
		t.setCursor(&c)
		c.yieldRange(low, high, yield)
	}
}

// RangeKeyBackward yields the rows of RangeKey in the opposite order.
func (t Table) RangeKeyBackward(low, high Bound) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		var c Cursor
		t.setCursor(&c)
		c.yieldRangeBackward(low, high, yield)
	}
}

// yieldRange yields the entries between two bounds.
func (c *Cursor) yieldRange(low, high Bound, yield func(Row, error) bool) {
	var room [2][keyRoom]record.Value
	from, to, err := c.boundKeys(&room, &low, &high)
	ok := false
	switch {
	case err != nil:
	case !low.set:
		ok, err = c.First()
	case low.exclusive:
		ok, err = c.seekPast(&from)
	default:
		ok, err = c.seekKey(&from)
	}
	ok, err = c.arrive(ok, err)
	c.yieldAll(ok, err, func(row Row, err error) bool {
		if err == nil && high.set {
			var order int
			if order, err = c.rx.pager.CompareRecord(&row.rec, &to); err == nil && (order > 0 || order == 0 && high.exclusive) {
				return false
			}
		}
		return yield(row, err) && err == nil
	})
}

// yieldRangeBackward yields the entries between two bounds, the last one first.
func (c *Cursor) yieldRangeBackward(low, high Bound, yield func(Row, error) bool) {
	var room [2][keyRoom]record.Value
	from, to, err := c.boundKeys(&room, &low, &high)
	ok := false
	if err == nil {
		ok, err = c.arrive(c.seekEnd(&high, &to))
	}
	c.yieldEach(ok, err, true, func(row Row, err error) bool {
		if err == nil && low.set {
			var order int
			if order, err = c.rx.pager.CompareRecord(&row.rec, &from); err == nil && (order < 0 || order == 0 && low.exclusive) {
				return false
			}
		}
		return yield(row, err) && err == nil
	})
}

// seekEnd moves to the last entry that a bound leaves in.
func (c *Cursor) seekEnd(high *Bound, k *record.Key) (ok bool, err error) {
	switch {
	case !high.set:
		return c.end(true)
	case high.exclusive:
		return c.before(c.seekKey(k))
	}
	return c.before(c.seekPast(k))
}

// before moves to the entry before the one that was found or, if there is none, to the last one.
func (c *Cursor) before(found bool, err error) (bool, error) {
	switch {
	case err != nil:
		return c.fail(err)
	case !found:
		return c.end(true)
	}
	return c.Prev()
}

// boundKeys makes the keys of two bounds. The cursor must be one over keys.
func (c *Cursor) boundKeys(room *[2][keyRoom]record.Value, low, high *Bound) (from, to record.Key, err error) {
	if c.table {
		return from, to, errHasRowids(c.shape)
	}
	if low.set {
		from, err = c.rx.makeBound(room[0][:0], c.shape.name, c.tree.Key, low.values)
	}
	if high.set && err == nil {
		to, err = c.rx.makeBound(room[1][:0], c.shape.name, c.tree.Key, high.values)
	}
	return from, to, err
}

// seekPast moves to the first entry that is behind all those that begin with k, if there is one.
func (c *Cursor) seekPast(k *record.Key) (bool, error) {
	pgno, err := c.start(false)
	if err != nil {
		return c.fail(err)
	}
	for {
		top, err := c.visit(pgno)
		if err != nil {
			return c.fail(err)
		}
		if top.i, err = c.rx.searchPast(&top.Node, k); err != nil {
			return c.fail(err)
		}
		if top.Kind.Leaf() {
			return c.settle()
		}
		var ok bool
		if pgno, ok = top.Child(top.i); !ok {
			return c.fail(c.rx.pager.Corrupt(top.Pgno, "a cell lies outside the page"))
		}
	}
}

// searchPast returns the first cell of an index page whose record is behind all those that begin
// with k.
func (rx *Rx) searchPast(n *btree.Node, k *record.Key) (int, error) {
	lo, hi := 0, n.Cells
	for lo < hi {
		probe := int(uint(lo+hi) / 2)
		order, err := rx.pager.CompareCell(n, probe, k)
		if err != nil {
			return 0, err
		}
		if order <= 0 {
			lo = probe + 1
		} else {
			hi = probe
		}
	}
	return lo, nil
}
