package exec

import (
	"math"

	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/catalog"
	"github.com/foliofs/folio/internal/sql/value"
	"github.com/foliofs/folio/sqlitefile"
)

// An access reads the rows of a source in one way. It sets the current row of its source.
type access interface {
	open(m *machine) error
	next(m *machine) (bool, error)
	// exact reports whether the rows satisfy the conditions that the access looks up, so that the
	// loop need not evaluate them.
	exact() bool
}

// A tableScan reads all rows of a table.
type tableScan struct {
	t      *table
	cursor sqlitefile.Cursor
	begun  bool
	back   bool
}

func (a *tableScan) bind(*sqlitefile.Rx) { a.cursor.Reset(a.t.handle) }

func (a *tableScan) open(*machine) error {
	a.begun = false
	return nil
}

func (a *tableScan) exact() bool { return true }

func (a *tableScan) next(*machine) (ok bool, err error) {
	switch {
	case a.begun && a.back:
		ok, err = a.cursor.Prev()
	case a.begun:
		ok, err = a.cursor.Next()
	case a.back:
		ok, err = a.cursor.Last()
	default:
		ok, err = a.cursor.First()
	}
	a.begun = true
	if !ok || err != nil {
		return false, err
	}
	return true, a.cursor.Internal(private.Key{}).Load(&a.t.row)
}

func (a *tableScan) count(m *machine) (int64, error) {
	return a.cursor.Internal(private.Key{}).Count(m.alive)
}

// A rowidLookup reads the row with a rowid.
type rowidLookup struct {
	t      *table
	cursor sqlitefile.Cursor
	value  evaluator
	done   bool
	whole  bool
	before int // how many lookups there were in the transaction, 2 at most
}

func (a *rowidLookup) bind(*sqlitefile.Rx) { a.before = 0 }

func (a *rowidLookup) open(*machine) error {
	a.done = false
	return nil
}

func (a *rowidLookup) exact() bool { return a.whole }

func (a *rowidLookup) next(m *machine) (bool, error) {
	if a.done {
		return false, nil
	}
	a.done = true
	v, err := a.value.value(m)
	if err != nil {
		return false, err
	}
	if a.whole = v.Kind() == record.Integer; !a.whole {
		if v = applied(v, catalog.Integer); v.Kind() != record.Integer {
			return false, nil
		}
	}
	switch a.before {
	case 0: // one lookup costs less without a cursor
		a.before = 1
		row, ok, err := a.t.handle.Get(v.Int())
		if ok {
			a.t.row = row
		}
		return ok, err
	case 1:
		a.before = 2
		a.cursor.Reset(a.t.handle)
	}
	c := a.cursor.Internal(private.Key{})
	ok, err := c.Find(v.Int())
	if ok && err == nil {
		err = c.Load(&a.t.row)
	}
	return ok && err == nil, err
}

// A rowidRange reads the rows between two rowids.
type rowidRange struct {
	t         *table
	cursor    sqlitefile.Cursor
	low, high *evaluator
	above     bool // low itself is left out
	below     bool // high itself is left out
	last      int64
	begun     bool
	empty     bool
	back      bool
	first     int64
}

func (a *rowidRange) bind(*sqlitefile.Rx) { a.cursor.Reset(a.t.handle) }

func (a *rowidRange) exact() bool { return true }

func (a *rowidRange) open(m *machine) (err error) {
	a.begun, a.empty = false, false
	a.first, a.last = math.MinInt64, math.MaxInt64
	if a.low != nil {
		if a.first, err = a.bound(m, a.low, a.above, true); err != nil {
			return err
		}
	}
	if a.high != nil {
		a.last, err = a.bound(m, a.high, a.below, false)
	}
	a.empty = a.empty || a.first > a.last
	return err
}

// bound returns the rowid that a bound stands for, or sets empty if there is none.
func (a *rowidRange) bound(m *machine, e *evaluator, excluded, low bool) (int64, error) {
	v, err := e.value(m)
	if err != nil {
		return 0, err
	}
	if v.Kind() == record.Text {
		v = value.Numeric(v)
	}
	open := int64(math.MaxInt64)
	if low {
		open = math.MinInt64
	}
	switch v.Kind() {
	case record.Null:
		a.empty = true
		return 0, nil
	case record.Text, record.Blob: // which are behind all rowids
		a.empty = a.empty || low
		return open, nil
	case record.Integer:
		i := v.Int()
		switch {
		case !excluded:
		case low && i == math.MaxInt64, !low && i == math.MinInt64:
			a.empty = true
		case low:
			i++
		default:
			i--
		}
		return i, nil
	}
	f := v.Float()
	switch {
	case low && f >= 1<<63, !low && f < -1<<63:
		a.empty = true
		return 0, nil
	case low && f < -1<<63, !low && f >= 1<<63:
		return open, nil
	case low:
		up := math.Ceil(f)
		if up >= 1<<63 {
			a.empty = true
			return 0, nil
		}
		if up == f && excluded {
			if int64(up) == math.MaxInt64 {
				a.empty = true
			}
			return int64(up) + 1, nil
		}
		return int64(up), nil
	}
	down := math.Floor(f)
	if down == f && excluded {
		if int64(down) == math.MinInt64 {
			a.empty = true
			return 0, nil
		}
		return int64(down) - 1, nil
	}
	return int64(down), nil
}

func (a *rowidRange) next(*machine) (ok bool, err error) {
	if a.empty {
		return false, nil
	}
	c := a.cursor.Internal(private.Key{})
	switch {
	case a.begun && a.back:
		ok, err = a.cursor.Prev()
	case a.begun:
		ok, err = a.cursor.Next()
	case a.back:
		ok, err = c.SeekRowidBefore(a.last)
	default:
		ok, err = a.cursor.SeekRowid(a.first)
	}
	a.begun = true
	if !ok || err != nil {
		return false, err
	}
	if err = c.Load(&a.t.row); err != nil {
		return false, err
	}
	rowid := a.t.row.Rowid()
	return rowid >= a.first && rowid <= a.last, nil
}

// A keyBound is a bound of the last column that an indexRange looks at.
type keyBound struct {
	value    evaluator
	affinity value.Affinity
	null     bool // NULL is a value like others: IS NULL
	excluded bool
}

// An indexRange reads the entries of an index that begin with values, and whose next column is
// between two bounds. The rows of a table WITHOUT ROWID are such entries, too.
type indexRange struct {
	t         *table
	index     sqlitefile.Index
	primary   bool            // the table in place of an index
	row       *sqlitefile.Row // the current entry
	cursor    sqlitefile.Cursor
	equal     []keyBound
	low, high *keyBound // in the order of the index
	desc      bool      // NULLs come last in the column of the bounds
	back      bool

	from, to     []record.Value
	past, before bool // begin behind from; end before to
	all          bool // there is no end
	begun, empty bool
}

func (a *indexRange) bind(rx *sqlitefile.Rx) {
	if a.row = &a.t.entry; a.primary {
		a.row = &a.t.row
		a.cursor.Reset(a.t.handle)
		return
	}
	a.index = a.index.Internal(private.Key{}).At(rx)
	a.cursor.Internal(private.Key{}).ResetIndex(a.index)
}

func (a *indexRange) exact() bool { return true }

func (a *indexRange) open(m *machine) (err error) {
	a.begun, a.empty = false, false
	a.from, a.past, a.before = a.from[:0], false, false
	for i := range a.equal {
		v, err := a.equal[i].key(m)
		if err != nil {
			return err
		}
		if v.Kind() == record.Null && !a.equal[i].null {
			a.empty = true
			return nil
		}
		a.from = append(a.from, v)
	}
	a.to = append(a.to[:0], a.from...)
	if a.low == nil && a.high == nil {
		a.all = len(a.from) == 0
		return nil
	}
	a.all = false
	if err = a.bound(m, a.low, &a.from, &a.past, !a.desc); err != nil {
		return err
	}
	return a.bound(m, a.high, &a.to, &a.before, a.desc)
}

// bound appends a bound to a key. Where there is none, the NULLs, if they are on this side, are
// left out.
func (a *indexRange) bound(m *machine, b *keyBound, key *[]record.Value, excluded *bool, nulls bool) error {
	if b == nil {
		if nulls {
			*key, *excluded = append(*key, record.Value{}), true
		}
		return nil
	}
	v, err := b.key(m)
	a.empty = a.empty || v.Kind() == record.Null
	*key, *excluded = append(*key, v), b.excluded
	return err
}

func (b *keyBound) key(m *machine) (record.Value, error) {
	v, err := b.value.value(m)
	if b.affinity > catalog.Blob {
		v = applied(v, b.affinity)
	}
	return v, err
}

func (a *indexRange) next(*machine) (ok bool, err error) {
	if a.empty {
		return false, nil
	}
	if a.back {
		return a.prev()
	}
	c := a.cursor.Internal(private.Key{})
	switch {
	case a.begun:
		ok, err = a.cursor.Next()
	case len(a.from) == 0:
		ok, err = a.cursor.First()
	default:
		ok, err = c.Seek(a.from, a.past)
	}
	a.begun = true
	if !ok || err != nil {
		return false, err
	}
	if err = c.Load(a.row); err != nil {
		return false, err
	}
	a.t.loaded = false
	if a.all || len(a.to) == 0 {
		return true, nil
	}
	order, err := c.Compare(a.row, a.to)
	return err == nil && (order < 0 || order == 0 && !a.before), err
}

func (a *indexRange) count(m *machine) (int64, error) {
	return a.cursor.Internal(private.Key{}).Count(m.alive)
}

// prev is next in the opposite order.
func (a *indexRange) prev() (ok bool, err error) {
	c := a.cursor.Internal(private.Key{})
	switch {
	case a.begun:
		ok, err = a.cursor.Prev()
	case len(a.to) == 0:
		ok, err = a.cursor.Last()
	default:
		ok, err = c.SeekBefore(a.to, !a.before)
	}
	a.begun = true
	if !ok || err != nil {
		return false, err
	}
	if err = c.Load(a.row); err != nil {
		return false, err
	}
	a.t.loaded = false
	if len(a.from) == 0 {
		return true, nil
	}
	order, err := c.Compare(a.row, a.from)
	return err == nil && (order > 0 || order == 0 && !a.past), err
}

// A streamed reads the rows of a query as they come.
type streamed struct {
	rows   rows
	source *source
}

func (a *streamed) open(*machine) error { return a.rows.open() }
func (a *streamed) exact() bool         { return true }

func (a *streamed) next(*machine) (bool, error) {
	ok, err := a.rows.next()
	if ok {
		a.source.show(a.rows.values())
	}
	return ok, err
}

// A storedRow keeps the rows of a query, so that they can be read again.
type storedRow struct {
	rows   rows
	source *source
	keeps  bool       // they do not depend on queries around
	same   *storedRow // that has the same rows; may be nil
	filled bool
	list   [][]record.Value
	at     int
}

func (a *storedRow) exact() bool { return true }

func (a *storedRow) open(m *machine) error {
	a.at = 0
	return a.fill(m)
}

func (a *storedRow) fill(m *machine) error {
	if a.filled {
		return nil
	}
	if a.same != nil {
		err := a.same.fill(m)
		a.list, a.filled = a.same.list, err == nil
		return err
	}
	a.list = a.list[:0]
	if err := a.rows.open(); err != nil {
		return err
	}
	var room []record.Value
	for {
		ok, err := a.rows.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if err := m.alive(); err != nil {
			return err
		}
		var row []record.Value
		row, room = keep(a.rows.values(), room)
		a.source.realify(row)
		a.list = append(a.list, row)
	}
	a.filled = true
	return nil
}

// keep copies values into room, or into new room if there is too little.
func keep(values, room []record.Value) (kept, rest []record.Value) {
	n := len(values)
	if len(room) < n {
		room = make([]record.Value, max(n*64, 64))
	}
	copy(room, values)
	return room[:n:n], room[n:]
}

func (a *storedRow) next(*machine) (bool, error) {
	if a.at == len(a.list) {
		return false, nil
	}
	a.source.over = a.list[a.at]
	a.at++
	return true, nil
}
