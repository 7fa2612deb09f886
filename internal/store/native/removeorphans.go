package native

import (
	"context"
	"errors"
	"slices"

	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/history"
	"github.com/foliofs/folio/internal/store/native/rowstore"
)

// removeStep is how much content one transaction removes if there is little room: it changes
// about 20 pages, and each is a frame of the log.
const removeStep = (8 << 20) / store.ChunkSize // chunks

// removeOrphans removes orphans that are not pinned, with all they have, and marks that are not
// needed: in one transaction or, if the disk has no room for that, in small ones. An orphan that
// was removed in part is shorter, and an orphan still.
func (s *Store) removeOrphans(ctx context.Context, list, marks []store.Ino) error {
	err := s.removeTogether(ctx, list, marks)
	if !errors.Is(err, store.ErrFull) {
		return err
	}
	for _, ino := range list {
		if err := s.removeBySteps(ctx, ino); err != nil {
			return err
		}
	}
	return s.removeTogether(ctx, nil, marks)
}

// removeTogether is removeOrphans in one transaction.
func (s *Store) removeTogether(ctx context.Context, list, marks []store.Ino) error {
	return s.update(ctx, func(t *history.Tx) error {
		t.DB.Internal(private.Key{}).MarkKnown() // an observer keeps nothing of an inode without a name that is not pinned
		if err := s.removeUnpinned(t, list); err != nil {
			return err
		}
		return unmark(t, slices.Concat(marks, list, t.Gone, []store.Ino{s.writer.Mark}))
	})
}

// removeBySteps removes one orphan, its content piece by piece from the end.
func (s *Store) removeBySteps(ctx context.Context, ino store.Ino) error {
	for more := true; more; {
		err := s.update(ctx, func(t *history.Tx) (err error) {
			t.DB.Internal(private.Key{}).MarkKnown()
			more, err = s.shorten(t, ino)
			return err
		})
		if err != nil {
			return err
		}
	}
	return s.removeTogether(ctx, []store.Ino{ino}, nil)
}

// shorten removes the last removeStep chunks of an orphan that is not pinned, and reports whether
// there were as many.
func (s *Store) shorten(t *history.Tx, ino store.Ino) (more bool, err error) {
	held, err := s.pins.pinned(ino)
	if err != nil || held {
		return false, err
	}
	orphan, err := t.Table(rowstore.OrphanTable)
	if err != nil {
		return false, err
	}
	if _, ok, err := orphan.Get(int64(ino)); err != nil || !ok {
		return false, err
	}
	n, err := t.Node(ino)
	if err != nil || n.Nlink > 0 {
		return false, rowstore.UnlessDamaged(err)
	}
	if isBase, err := t.IsBase(ino); err != nil || isBase {
		return false, err
	}
	count, err := t.ChunkCount(ino)
	if err != nil || count < removeStep {
		return false, err
	}
	if err := t.Truncate(&n, min(n.Size, (count-removeStep)*store.ChunkSize)); err != nil {
		return false, err
	}
	return true, t.Put(&n)
}
