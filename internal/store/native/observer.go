package native

import (
	"context"
	"time"

	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/history"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/sqlitefile"
)

// An observer learns of changes by pages. The engine notes which pages other users have written;
// this file finds out which part of which table these pages lead to now.
//
// Why that is enough: take any key, for example a name in a directory, and suppose that a lookup of
// it gives another result than at the mark where the engine began to note. Then some page on the
// way from the root to that key, as it is now, was written since. For if none was, each page on the
// way is as it was at the mark, so the way was the same then, and so was its result. The key lies
// in the span of that page.
//
// Not every page on the way must be looked at. docs/adr/0014 has the cases.

var _ store.Observer = (*Store)(nil)

// observerPin is the number that an observer pins for as long as it is one. Observers learn of an
// orphan after it has lost its name, and pin it then if they use it. To give them the time, other
// processes leave orphans alone while there is an observer and the orphan is young.
const observerPin = int64(store.MaxIno) + 1

// orphanAge is how old an orphan must be to be removed while another process observes the volume.
const orphanAge = 2 * time.Second

// observedByOthers reports whether another Store, of this process or another, has an observer.
func (s *Store) observedByOthers() (bool, error) {
	return s.db.Internal(private.Key{}).Pinned(observerPin)
}

// isYoung reports whether an orphan has lost its last name a moment ago. A time to come counts as
// long ago.
func isYoung(t *history.Tx, ino store.Ino) (bool, error) {
	n, err := t.Node(ino)
	age := time.Duration(time.Now().UnixNano() - n.Ctime)
	return age >= 0 && age < orphanAge, rowstore.UnlessDamaged(err)
}

// Observe implements store.Observer.
func (s *Store) Observe() error {
	if err := s.db.Internal(private.Key{}).Watch(); err != nil {
		return rowstore.Explain(err)
	}
	if err := s.db.Internal(private.Key{}).Pin(observerPin); err != nil {
		return rowstore.Explain(err)
	}
	return s.db.View(bg, func(db *sqlitefile.Rx) error {
		s.observedSchema.Store(uint64(db.Info().SchemaVersion) + 1)
		return nil
	})
}

// Pending implements store.Observer.
func (s *Store) Pending() bool { return s.db.Internal(private.Key{}).WatchPending() }

// Observed implements store.Observer.
func (s *Store) Observed() (store.Rx, store.Changes, error) {
	db, pages, all, err := s.db.Internal(private.Key{}).Watched()
	if err != nil {
		return nil, store.Changes{}, rowstore.Explain(err)
	}
	c := store.Changes{All: all}
	if cookie := db.Info().SchemaVersion; s.observedSchema.Swap(uint64(cookie)+1) != uint64(cookie)+1 {
		c.All = true // its tables may be different ones
	}
	if !c.All {
		err = db.Guard(func() error { return changesOf(db, pages, &c) })
	}
	if err != nil || c.All { // a b-tree that cannot be followed
		c = store.Changes{All: true}
	}
	return reader{rowstore.Rx{Engine: db}}, c, nil
}

// changesOf adds to c the inodes and names on the pages.
func changesOf(db *sqlitefile.Rx, pages []uint32, c *store.Changes) error {
	var tables [rowstore.DataTable + 1]sqlitefile.Table
	for i := range tables {
		var err error
		if tables[i], err = db.Table(rowstore.TableNames[i]); err != nil {
			return err
		}
	}
	c.All = db.Info().PageSize < wholeCells || len(tables[rowstore.NodeTable].Columns()) > rowstore.NodeColumns || len(tables[rowstore.EntryTable].Columns()) > rowstore.EntryColumns
	for _, pgno := range pages {
		if int64(pgno) > int64(db.Info().PageCount) {
			continue // the database has lost it
		}
		if err := addPage(&tables, pgno, c); err != nil || c.All {
			return err
		}
	}
	return nil
}

// wholeCells is the least page size with which inodes and entries lie in one page each, and do not
// go on in overflow pages.
const wholeCells = 4096

// addPage adds the span of a page in the table that it belongs to.
func addPage(tables *[rowstore.DataTable + 1]sqlitefile.Table, pgno uint32, c *store.Changes) error {
	for i := range tables {
		span, ok, err := tables[i].Internal(private.Key{}).Span(pgno)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		switch {
		case i == rowstore.EntryTable:
			low, high := entryKey(span.Low, store.EntryKey{}), entryKey(span.High, store.EntryKey{Dir: store.MaxIno + 1})
			c.Entries = append(c.Entries, store.EntrySpan{Low: low, High: high, Wide: !span.Leaf})
		case !span.Leaf:
		case i == rowstore.NodeTable:
			c.Nodes = append(c.Nodes, inoSpan(&span, 0))
		default:
			c.Contents = append(c.Contents, inoSpan(&span, store.ChunkBits))
		}
		return nil
	}
	c.Pages = append(c.Pages, pgno)
	return nil
}

// entryKey returns a bound of a span of entries.
func entryKey(b private.Bound, none store.EntryKey) store.EntryKey {
	switch {
	case b.None:
		return none
	case b.Int < 0:
		return store.EntryKey{}
	}
	return store.EntryKey{Dir: store.Ino(b.Int), Name: string(b.Text)}
}

// inoSpan returns the inodes of a span of rowids, with the given number of bits behind the
// inode.
func inoSpan(s *private.PageSpan, bits int) store.InoSpan {
	span := store.InoSpan{First: store.Root, Last: store.MaxIno}
	if !s.Low.None && s.Low.Int >= 0 {
		span.First = min(max(store.Ino((s.Low.Int+1)>>bits), store.Root), store.MaxIno)
	}
	if !s.High.None && s.High.Int >= 0 {
		span.Last = min(store.Ino(s.High.Int>>bits), store.MaxIno)
	}
	return span
}

// Reap implements store.Observer.
func (s *Store) Reap() error { return s.reap(bg) }

// UpdateKnown implements store.Observer.
func (s *Store) UpdateKnown(ctx context.Context, fn func(tx store.Tx) error) error {
	orphans, err := s.updateOnly(ctx, func(t *tx) error {
		t.DB.Internal(private.Key{}).MarkKnown()
		return fn(s.limited(t))
	})
	s.maintain(orphans)
	return err
}

// BatchKnown implements store.Observer.
func (s *Store) BatchKnown(ctx context.Context, fn func(tx store.Tx) error) error {
	if s.limit != 0 {
		return s.UpdateKnown(ctx, fn)
	}
	orphans, err := s.batch(ctx, fn, true)
	if err != nil {
		orphans = 0
	}
	s.maintain(orphans)
	return err
}

// ContentPages implements store.Observer.
func (s *Store) ContentPages(of store.Rx, ino store.Ino, start, end int64, fn func(first uint32, n int)) error {
	r, ok := of.(reader)
	if !ok || start >= end {
		return nil
	}
	return r.Engine.Guard(func() error {
		t, err := r.Engine.Table("data")
		if err != nil {
			return err
		}
		for at := start &^ (store.ChunkSize - 1); at < end; at += store.ChunkSize {
			size := min(end-at, store.ChunkSize) + maxDataHeader
			if err := t.Internal(private.Key{}).OverflowPages(store.DataID(ino, at), size, fn); err != nil {
				return err
			}
		}
		return nil
	})
}

// maxDataHeader is how long the header of a data row is at most, if no other program has added
// columns.
const maxDataHeader = 16
