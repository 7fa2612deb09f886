package native

import (
	"context"
	"slices"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/history"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/sqlitefile"
)

// An orphan is an inode without a name. It has a row in table orphan until it is no longer pinned
// and reap has removed it.
//
// A row of an inode that does not exist any more marks the highest number that was ever given,
// if no inode has a higher one: so that numbers are not given again.

const (
	reapAfter = 256  // orphans
	reapBatch = 1024 // in one transaction

	mostScanned = 1 << 15 // entries, when a volume is opened
)

var bg = context.Background()

// isOrphan reports whether an inode has a row in table orphan, if the table can be read.
func (s *Store) isOrphan(ino store.Ino) (found bool) {
	_ = s.db.View(bg, func(rx *sqlitefile.Rx) error {
		t, err := rx.Table("orphan")
		if err == nil {
			_, found, err = t.Get(int64(ino))
		}
		return err
	})
	return found
}

// maintain is called after a transaction that left orphans orphans.
func (s *Store) maintain(orphans int) {
	s.reapReleased()
	if orphans > 0 {
		s.orphans.Add(int64(orphans))
	}
	if s.cloneless.Swap(false) {
		_ = s.endClones(bg) // Close tries again
	}
	if waiting := s.orphans.Load(); waiting >= reapAfter || waiting > 0 && s.full.Swap(false) {
		_ = s.reap(bg) // the next call tries again
	}
}

// endClones drops the tables of clones if there are no clones.
func (s *Store) endClones(ctx context.Context) error {
	empty := false
	err := s.db.View(ctx, func(db *sqlitefile.Rx) error {
		if !(rowstore.Rx{Engine: db}).HasClones() {
			return nil
		}
		origins, err := db.Table("origin")
		if err != nil {
			return err
		}
		more, err := origins.Cursor().First()
		empty = err == nil && !more
		return err
	})
	if err != nil || !empty {
		return err
	}
	return s.update(ctx, func(t *history.Tx) error { return t.DropClones() })
}

// reapReleased removes the orphans that are no longer pinned.
func (s *Store) reapReleased() {
	list := s.released.Take()
	if len(list) == 0 {
		return
	}
	left := int64(len(list)) // also if Options.Trace panics
	defer func() { s.orphans.Add(left) }()
	if s.removeOrphans(bg, list, nil) == nil {
		left = 0
	}
}

// reapLeft is reap when the volume is opened. In a damaged one an orphan may have a name, and
// content that Repair keeps. Names of inodes are not indexed: if there are too many entries to
// look at all of them, it leaves the orphans to Close, so that there is time for Repair.
func (s *Store) reapLeft(ctx context.Context) error {
	found, err := s.listOrphans(ctx, 0)
	if err == nil && len(found.orphans) > 0 {
		var named, all bool
		named, all, err = s.orphanNamed(ctx)
		s.reapDisabled.Store(named)
		if err == nil && !all {
			s.orphans.Add(1) // something for Close to do
			return nil
		}
	}
	if err != nil {
		return err
	}
	return s.reap(ctx)
}

// orphanNamed reports whether an entry leads to an orphan, and whether it has looked at all
// entries, or as many as it had to.
func (s *Store) orphanNamed(ctx context.Context) (named, all bool, err error) {
	err = s.db.View(ctx, func(rx *sqlitefile.Rx) error {
		orphan, err := rx.Table("orphan")
		if err != nil {
			return err
		}
		entry, err := rx.Table("entry")
		if err != nil {
			return err
		}
		scanned := 0
		for row, err := range entry.All() {
			if scanned++; err != nil || scanned > mostScanned {
				return err
			}
			ino, err := row.Value(rowstore.EntryIno)
			if err == nil {
				_, named, err = orphan.Get(ino.Int64())
			}
			if err != nil || named {
				return err
			}
		}
		all = true
		return nil
	})
	return named, all || named, err
}

// reap removes the orphans that are not pinned, unless another goroutine is doing so.
func (s *Store) reap(ctx context.Context) error {
	if s.reapDisabled.Load() || !s.reaping.TryLock() {
		return nil
	}
	defer s.reaping.Unlock()
	s.orphans.Store(0)
	err := s.reapAll(ctx)
	if err != nil {
		s.orphans.Add(1) // something for Close to do
	}
	return err
}

func (s *Store) reapAll(ctx context.Context) error {
	for after := store.Ino(0); ; {
		found, err := s.listOrphans(ctx, after)
		if err != nil || found.last == 0 {
			return err
		}
		if len(found.orphans) > 0 || len(found.marks) > 1 || found.clones {
			if err := s.removeOrphans(ctx, found.orphans, found.marks); err != nil {
				return err
			}
		}
		after = found.last
	}
}

// orphans are some rows of table orphan, in order.
type orphans struct {
	orphans []store.Ino // that this process has not pinned
	clones  bool        // some marks belong to clones that SQL has removed
	marks   []store.Ino // inodes that do not exist
	last    store.Ino   // 0 if there were no rows
}

// listOrphans returns the next rows. They are published (see pins).
func (s *Store) listOrphans(ctx context.Context, after store.Ino) (found orphans, err error) {
	err = s.db.View(ctx, func(db *sqlitefile.Rx) error {
		orphan, err := db.Table("orphan")
		if err != nil {
			return err
		}
		node, err := db.Table("node")
		if err != nil {
			return err
		}
		for row, err := range orphan.Range(int64(after)+1, int64(store.MaxIno)) {
			if err != nil || len(found.orphans)+len(found.marks) == reapBatch {
				return err
			}
			found.last = store.Ino(row.Rowid())
			_, ok, err := node.Get(row.Rowid())
			isBase := false
			if err == nil {
				isBase, err = rowstore.Rx{Engine: db}.IsBase(found.last)
			}
			switch {
			case err != nil:
				return err
			case isBase: // C5
			case !ok:
				found.marks = append(found.marks, found.last)
				var o rowstore.Origin
				if o, err = (rowstore.Rx{Engine: db}).OriginOf(found.last); err != nil {
					return err
				}
				found.clones = found.clones || o.Chunks > 0
			case !s.pins.mine(found.last):
				found.orphans = append(found.orphans, found.last)
			}
		}
		return nil
	})
	return found, err
}

// removeUnpinned removes the orphans in list that are not pinned.
func (s *Store) removeUnpinned(t *history.Tx, list []store.Ino) error {
	observed, err := s.observedByOthers()
	if err != nil {
		return err
	}
	for i := 0; i < len(list); i++ {
		ino := list[i]
		held, err := s.pins.pinned(ino)
		if err == nil && !held && observed {
			held, err = isYoung(t, ino)
		}
		if held { // another process pins it, or it waits for an observer to do so
			s.orphans.CompareAndSwap(0, 1) // something for Close to do
		}
		if err == nil && !held {
			err = t.RemoveOrphan(ino)
		}
		if err != nil {
			return err
		}
		list, t.Freed = append(slices.Clip(list), t.Freed...), nil
	}
	return nil
}

// removeDead removes the remaining rows of a clone if SQL has removed its inode.
func removeDead(t *history.Tx, ino store.Ino) error {
	s, err := t.Sharing(ino)
	if err != nil || s.Chunks == 0 {
		return err
	}
	node, err := t.Table(rowstore.NodeTable)
	if err != nil {
		return err
	}
	if _, ok, err := node.Get(int64(ino)); err != nil || ok {
		return err
	}
	_, err = t.DeleteChunks(ino, 0)
	return err
}

// unmark removes rows of table orphan whose inodes no longer exist, except the row that marks the
// highest number.
func unmark(t *history.Tx, list []store.Ino) error {
	orphan, err := t.Table(rowstore.OrphanTable)
	if err != nil {
		return err
	}
	node, err := t.Table(rowstore.NodeTable)
	if err != nil {
		return err
	}
	highest, err := t.LastIno()
	if err != nil {
		return err
	}
	for _, ino := range list {
		if err := removeDead(t, ino); err != nil {
			return err
		}
		if ino == highest {
			t.Writer.Mark = ino
			continue
		}
		_, ok, err := node.Get(int64(ino))
		if err == nil && !ok {
			_, err = orphan.Delete(int64(ino))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
