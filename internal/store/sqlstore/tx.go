package sqlstore

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"

	"github.com/foliofs/folio/internal/store"
)

// A tx is a write transaction. It implements store.Tx.
type tx struct {
	reader
	s       *Store
	last    store.Ino // the highest number that was given; 0 if that is not known
	orphans int       // that it made
}

// Update implements store.Store.
func (s *Store) Update(ctx context.Context, fn func(tx store.Tx) error) error {
	orphans := 0
	err := s.updateCounted(ctx, func(t *tx) error {
		err := fn(t)
		orphans = t.orphans
		return err
	})
	if err != nil {
		orphans = 0
	}
	s.tend(orphans)
	return err
}

// updateCounted is update for callers that run while Unpin may be called.
func (s *Store) updateCounted(ctx context.Context, fn func(t *tx) error) error {
	s.released.Begin()
	defer s.released.End()
	return s.update(ctx, fn)
}

// update is Update without the removal of orphans.
func (s *Store) update(ctx context.Context, fn func(t *tx) error) error {
	w, err := s.enterWriter(ctx)
	if err != nil {
		return err
	}
	defer s.leaveWriter()
	if err := w.prepare(ctx); err != nil {
		return err
	}
	return w.transact(ctx, func(c *conn) error {
		t := tx{reader: reader{c}, s: s}
		return fn(&t)
	})
}

// End does nothing: Update ends the transaction.
func (t *tx) End() {}

// Version implements store.Tx.
func (t *tx) Version() uint64 { return 0 }

// fail notes the error of a change: the transaction cannot be committed, and nothing more is done
// in it.
func (t *tx) fail(err error) error {
	if t.failed == nil {
		t.failed = err
	}
	return err
}

// change runs a statement that must change something.
func (t *tx) change(i statement, args ...any) error {
	n, err := t.exec(i, args...)
	if err == nil && n == 0 {
		err = fs.ErrNotExist
	}
	return t.fail(err)
}

// Insert implements store.Tx.
func (t *tx) Insert(n *store.Node) error {
	ino, err := t.newIno()
	if err != nil {
		return t.fail(err)
	}
	n.Ino = ino
	return t.change(insertNode, nodeValues(n)...)
}

// newIno returns a number that was never given.
func (t *tx) newIno() (store.Ino, error) {
	if t.last == 0 {
		last, err := t.number(selectLast, int64(store.MaxIno))
		if err != nil {
			return 0, err
		}
		t.last = max(store.Ino(max(last, 0)), t.s.writer.last)
	}
	if t.last >= store.MaxIno {
		return t.anyIno()
	}
	t.last++
	t.s.writer.last = t.last
	return t.last, nil
}

// anyIno looks for a free number where the highest was given.
func (t *tx) anyIno() (store.Ino, error) {
	for range 100 {
		ino := store.Root + 1 + rand.N(store.MaxIno-1)
		used, err := t.number(selectUsed, int64(ino))
		if err != nil || used == 0 {
			return ino, err
		}
	}
	return 0, fmt.Errorf("%w: no number was found for another file", store.ErrFull)
}

// Put implements store.Tx.
func (t *tx) Put(n *store.Node) error { return t.change(updateNode, nodeValues(n)...) }

// nodeValues returns the columns of an inode, the number last.
func nodeValues(n *store.Node) []any {
	return []any{
		int64(n.Mode), int64(n.Nlink), int64(n.UID), int64(n.GID), n.Size, n.Holes, n.Mtime, n.Ctime, n.Atime, int64(n.Rdev), int64(n.Ino),
	}
}

// Orphan implements store.Tx.
func (t *tx) Orphan(n *store.Node) error {
	n.Nlink = 0
	if err := t.Put(n); err != nil {
		return err
	}
	t.orphans++
	return t.change(putOrphan, int64(n.Ino))
}

// Adopt implements store.Tx.
func (t *tx) Adopt(n *store.Node) error {
	if err := t.Put(n); err != nil {
		return err
	}
	return t.change(deleteOrphan, int64(n.Ino))
}

// Link implements store.Tx.
func (t *tx) Link(dir store.Ino, e store.Entry) error {
	if !store.ValidName(e.Name) {
		return t.fail(fs.ErrInvalid)
	}
	return t.change(putEntry, int64(dir), e.Name, int64(e.Ino), int64(e.Type))
}

// Unlink implements store.Tx.
func (t *tx) Unlink(dir store.Ino, name string) error { return t.change(deleteEntry, int64(dir), name) }

// SetXattr implements store.Tx.
func (t *tx) SetXattr(ino store.Ino, name string, value []byte) error {
	if value == nil {
		return t.change(deleteXattr, int64(ino), name)
	}
	return t.change(putXattr, int64(ino), name, value)
}
