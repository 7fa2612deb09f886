package exec

import (
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/bind"
)

// An inserter inserts rows.
type inserter struct {
	m         *machine
	w         *rowWriter
	rows      rows // nil for DEFAULT VALUES
	once      bool // the row of DEFAULT VALUES was inserted
	places    []int
	rowid     int
	set       []*setter // by clause of the upsert; nil for DO NOTHING
	returning *returning
}

func (c *compiler) inserter(b *bind.Change, w *rowWriter) (*inserter, error) {
	n := &inserter{m: c.m, w: w, places: b.Places, rowid: b.Rowid}
	var err error
	if q := b.Query; q != nil {
		if n.rows, err = c.makeQuery(q); err != nil {
			return nil, err
		}
		if q.Reads(b.Table.Name) { // which must not meet the new rows
			n.rows = &sorted{m: c.m, rows: n.rows, full: n.rows.values, width: len(q.Columns), most: -1, own: true}
		}
	}
	for _, u := range b.Upserts {
		w.upserts = append(w.upserts, private.Upsert{Any: u.Any, Key: u.Key, Indexes: u.Indexes, Update: u.Set != nil})
		var s *setter
		if u.Set != nil {
			if s, err = c.setter(u.Set); err != nil {
				return nil, err
			}
		}
		n.set = append(n.set, s)
	}
	n.returning, err = c.returning(b)
	return n, err
}

func (n *inserter) open() error {
	n.once = false
	if err := n.w.writer.Internal(private.Key{}).BeginInsert(); err != nil || n.rows == nil {
		return err
	}
	return n.rows.open()
}

func (n *inserter) values() []record.Value { return n.returning.values() }

func (n *inserter) next() (bool, error) {
	for {
		var row []record.Value
		if n.rows == nil {
			if n.once {
				return false, n.w.writer.Internal(private.Key{}).EndInsert()
			}
			n.once = true
		} else {
			ok, err := n.rows.next()
			if !ok && err == nil {
				err = n.w.writer.Internal(private.Key{}).EndInsert()
			}
			if !ok || err != nil {
				return false, err
			}
			row = n.rows.values()
		}
		if ok, err := n.insert(row); ok || err != nil {
			return ok, err
		}
		if err := n.m.alive(); err != nil {
			return false, err
		}
	}
}

// insert inserts a row, and reports whether it, or another one in its place, has changed.
func (n *inserter) insert(row []record.Value) (bool, error) {
	w := n.w.writer.Internal(private.Key{})
	for i, place := range n.places {
		v := record.Value{}
		switch {
		case place >= 0:
			v = row[place].Clone()
		case i != n.w.table.Alias && !n.w.table.Columns[i].Generated:
			var err error
			if v, err = w.Default(i); err != nil {
				return false, err
			}
		}
		n.w.values[i] = nil
		if v.Kind() != record.Null {
			n.w.values[i] = v
		}
	}
	given, rowid := false, int64(0)
	if n.rowid >= 0 && row[n.rowid].Kind() != record.Null {
		var err error
		if rowid, err = rowidOf(row[n.rowid]); err != nil {
			return false, err
		}
		given = true
	}
	out, err := w.Insert(given, rowid, n.w.values...)
	switch {
	case err != nil:
		return false, err
	case out.Upsert > 0:
		return n.update(n.set[out.Upsert-1], out)
	case out.Ignored:
		return false, nil
	}
	n.w.Changes++
	if !n.w.table.WithoutRowid {
		n.w.Rowid, n.w.Inserted = out.Row.Rowid, true
	}
	if n.returning == nil {
		return true, nil
	}
	return true, n.returning.ofKey(n.m, n.w, out.Row)
}

// update changes the row that is in the way of the one to insert.
func (n *inserter) update(s *setter, out private.Outcome) (bool, error) {
	e := s.excluded
	for i, v := range out.Values { // the rowid is the last one
		e.over[i], _ = v.(record.Value)
	}
	key, ok, err := s.change(n.m, n.w, n.w.updater.Internal(private.Key{}), out.Row)
	if !ok || err != nil || n.returning == nil {
		return ok, err
	}
	return true, n.returning.ofKey(n.m, n.w, key)
}
