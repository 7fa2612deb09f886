package sqlitefile

import (
	"context"

	"github.com/foliofs/folio/internal/btree"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/search"
)

// watched implements Watched of [DB.Internal].
func (db *DB) watched(ctx context.Context) (_ *Rx, pages []uint32, all bool, err error) {
	rx, _ := db.pool.Get().(*Rx)
	if rx == nil {
		rx = &Rx{db: db}
	}
	if pages, all, err = db.pager.Watched(ctx, &rx.pager.Rx); err != nil {
		db.pool.Put(rx)
		return nil, nil, true, err
	}
	rx.begun = true
	return rx, pages, all, nil
}

// spanOf implements Span of [Table.Internal]. A page of a b-tree is found by its own first key: the
// way from the root to that key leads through the page, or the page is no part of the b-tree.
func (t Table) spanOf(pgno uint32) (s private.PageSpan, ok bool, err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	s.Low.None, s.High.None = true, true
	if pgno == t.def.Root {
		n, err := t.rx.pager.Node(pgno)
		s.Leaf = err == nil && n.Kind.Leaf()
		return s, err == nil, err
	}
	data, err := t.rx.pager.Page(pgno)
	if err != nil || pgno == 1 {
		return s, false, err
	}
	n, ok := btree.ParseNode(data, pgno)
	if !ok || n.Cells == 0 || n.Kind.Table() != (t.def.Key == nil) {
		return s, false, nil
	}
	if t.def.Key == nil {
		ok, err = t.spanOfRows(&n, &s)
	} else {
		ok, err = t.spanOfKeys(&n, &s)
	}
	return s, ok, err
}

// spanOfRows sets s to the span of a page that may belong to a table with rowids.
func (t Table) spanOfRows(of *btree.Node, s *private.PageSpan) (ok bool, err error) {
	rowid, ok := of.Rowid(0)
	if !ok {
		return false, nil
	}
	pgno, within := t.def.Root, btree.Everything
	for range btree.MaxDepth {
		n, err := t.rx.pager.Node(pgno)
		if err != nil || !n.Kind.Table() {
			return false, err
		}
		if n.Pgno == of.Pgno {
			s.Leaf = n.Kind.Leaf()
			return true, nil
		}
		i, _, ok := n.SearchRowid(rowid, within)
		if !ok || n.Kind.Leaf() {
			return false, nil
		}
		if i > 0 {
			s.Low.Int, ok = n.Rowid(i - 1)
			s.Low.None = !ok
		}
		if i < n.Cells {
			s.High.Int, ok = n.Rowid(i)
			s.High.None = !ok
		}
		if pgno, ok = n.Child(i); !ok {
			return false, nil
		}
		within = n.Narrow(within, i)
	}
	return false, nil
}

// spanOfKeys sets s to the span of a page that may belong to a table WITHOUT ROWID.
func (t Table) spanOfKeys(of *btree.Node, s *private.PageSpan) (ok bool, err error) {
	var key [2]record.Value
	first, err := t.bound(of, 0)
	if err != nil || first.None {
		return false, nil // such a page is not one of a volume's tables
	}
	key[0] = record.OfInt(first.Int)
	key[1] = record.OfTextIn(first.Text, t.rx.pager.Header.Encoding)
	k := record.Key{Values: key[:], Columns: t.def.Key}
	pgno := t.def.Root
	for range btree.MaxDepth {
		n, err := t.rx.pager.Node(pgno)
		if err != nil || n.Kind.Table() {
			return false, err
		}
		if n.Pgno == of.Pgno {
			s.Leaf = n.Kind.Leaf()
			return true, nil
		}
		i, err := t.firstNotBefore(&n, &k)
		if err != nil || n.Kind.Leaf() {
			return false, err
		}
		if i > 0 {
			if s.Low, err = t.bound(&n, i-1); err != nil {
				return false, err
			}
		}
		if i < n.Cells {
			if s.High, err = t.bound(&n, i); err != nil {
				return false, err
			}
		}
		if pgno, ok = n.Child(i); !ok {
			return false, nil
		}
	}
	return false, nil
}

// firstNotBefore returns the first cell of an index page that is not before k.
func (t Table) firstNotBefore(n *btree.Node, k *record.Key) (int, error) {
	lo, hi := 0, n.Cells
	for lo < hi {
		probe := int(uint(lo+hi) / 2)
		c, err := t.rx.pager.CompareCell(n, probe, k)
		if err != nil {
			return 0, err
		}
		if c < 0 {
			lo = probe + 1
		} else {
			hi = probe
		}
	}
	return lo, nil
}

// bound returns the first two values of cell i of an index page; None if they are not an INTEGER
// and a TEXT.
func (t Table) bound(n *btree.Node, i int) (b private.Bound, err error) {
	var r search.Payload
	if err := t.rx.pager.IndexRecord(&r, n, i); err != nil {
		return b, err
	}
	row := Row{rx: t.rx, shape: &t.def.shape, rec: r}
	parent, err := row.Value(0)
	if err != nil {
		return b, err
	}
	name, err := row.Value(1)
	if err != nil {
		return b, err
	}
	b = private.Bound{None: parent.Kind() != KindInteger || name.Kind() != KindText, Int: parent.Int64(), Text: name.Bytes()}
	return b, nil
}

// overflowPages implements OverflowPages of [Table.Internal].
func (t Table) overflowPages(rowid, size int64, fn func(first uint32, n int)) (err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	row, ok, err := t.Get(rowid)
	if err != nil || !ok || row.rec.Overflow() == 0 {
		return err
	}
	return t.rx.pager.OverflowRuns(&row.rec, uint64(size), fn)
}
