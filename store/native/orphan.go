package native

import (
	"context"
	"errors"
	"io/fs"

	"github.com/foliofs/folio/sqlitefile"
	"github.com/foliofs/folio/store"
)

// An orphan is an inode without a name. It has a row in table orphan until nobody holds it and reap has removed it.
//
// A row of an inode that does not exist any more marks the highest number that was ever given, where no inode has a higher one: so that
// numbers are not given again.

const (
	reapAfter = 256  // orphans
	reapBatch = 1024 // in one transaction
)

var bg = context.Background()

// isOrphan reports whether an inode has a row in table orphan, as far as that can be told.
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

// tend is called after a transaction that has left orphans or not.
func (s *Store) tend(orphans int) {
	if s.orphans.Add(int64(orphans)) >= reapAfter || s.due.Load() {
		_ = s.reap(bg) // what fails is tried again
	}
}

// reapSoon removes an orphan that was given up: now, unless somebody is in Update, who may be the caller and would wait for himself. Then that Update
// does it when it ends: of the two at least the later one sees what the other did.
func (s *Store) reapSoon() {
	s.due.Store(true)
	if s.updating.Load() == 0 {
		_ = s.reap(bg) // or later
	}
}

// reap removes the orphans that nobody holds, unless somebody else of this process is about to.
func (s *Store) reap(ctx context.Context) error {
	if !s.reaping.TryLock() {
		return nil
	}
	defer s.reaping.Unlock()
	s.due.Store(false)
	s.orphans.Store(0)
	for after := store.Ino(0); ; {
		list, err := s.listOrphans(ctx, after)
		if err != nil || len(list) == 0 {
			return err
		}
		if err := s.bury(ctx, list); err != nil {
			return err
		}
		after = list[len(list)-1]
	}
}

// listOrphans returns the next orphans that are there and that this process does not hold. They are published (see holds).
func (s *Store) listOrphans(ctx context.Context, after store.Ino) (list []store.Ino, err error) {
	err = s.db.View(ctx, func(rx *sqlitefile.Rx) error {
		orphan, err := rx.Table("orphan")
		if errors.Is(err, sqlitefile.ErrNoTable) {
			return nil
		}
		if err != nil {
			return err
		}
		node, err := rx.Table("node")
		if err != nil {
			return err
		}
		for row, err := range orphan.Range(int64(after)+1, int64(store.MaxIno)) {
			if err != nil || len(list) == reapBatch {
				return err
			}
			ino := row.Rowid()
			if _, ok, err := node.Get(ino); err != nil {
				return err
			} else if ok && store.Ino(ino).Valid() {
				list = append(list, store.Ino(ino))
			}
		}
		return nil
	})
	return list, err
}

// bury removes orphans with all they have, in one transaction.
func (s *Store) bury(ctx context.Context, list []store.Ino) error {
	return s.update(ctx, func(t *tx) error {
		if err := t.buryAll(list); err != nil {
			return err
		}
		return t.unmark()
	})
}

// buryAll removes those orphans that nobody holds.
func (t *tx) buryAll(list []store.Ino) error {
	for _, ino := range list {
		held, err := t.s.holds.held(ino)
		if err == nil && !held {
			err = t.bury(ino)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bury removes one orphan.
func (t *tx) bury(ino store.Ino) error {
	orphan, err := t.table(orphanTable)
	if err != nil {
		return err
	}
	if _, ok, err := orphan.Get(int64(ino)); err != nil || !ok {
		return err // somebody else was faster
	}
	if n, err := t.Node(ino); err != nil || n.Nlink > 0 {
		return unlessDamaged(err) // no orphan of ours: Check says more
	}
	if err := t.deleteChunks(ino, 0); err != nil {
		return err
	}
	xattr, err := t.table(xattrTable)
	if err != nil {
		return err
	}
	if _, err := xattr.DeleteKey(int64(ino)); err != nil {
		return err
	}
	node, err := t.table(nodeTable)
	if err != nil {
		return err
	}
	_, err = node.Delete(int64(ino))
	return err
}

// unlessDamaged passes over what is not there, or contradicts itself.
func unlessDamaged(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, store.ErrDamaged) {
		return nil
	}
	return err
}

// unmark removes the rows of table orphan whose inodes are gone, but for the one that marks the highest number.
func (t *tx) unmark() error {
	orphan, err := t.table(orphanTable)
	if err != nil {
		return err
	}
	node, err := t.table(nodeTable)
	if err != nil {
		return err
	}
	highest, err := t.lastIno()
	if err != nil {
		return err
	}
	var gone []int64
	for row, err := range orphan.All() {
		if err != nil {
			return err
		}
		ino := row.Rowid()
		if _, ok, err := node.Get(ino); err != nil {
			return err
		} else if !ok && store.Ino(ino) != highest {
			gone = append(gone, ino)
		}
	}
	for _, ino := range gone {
		if _, err := orphan.Delete(ino); err != nil {
			return err
		}
	}
	return nil
}
