package sqlstore

import (
	"context"
	"errors"
	"io/fs"

	"github.com/foliofs/folio/internal/store"
)

// An orphan is an inode without a name. It has a row in table orphan until it is no longer pinned
// and reap has removed it.
//
// A row of an inode that does not exist any more marks the highest number that was ever given,
// where no inode has a higher one: so that numbers are not given again.

const (
	reapAfter = 256  // orphans
	reapBatch = 1024 // in one transaction
)

// tend is called after a transaction that has left so many orphans.
func (s *Store) tend(orphans int) {
	s.reapReleased()
	if orphans > 0 && s.orphans.Add(int64(orphans)) >= reapAfter {
		_ = s.reap(bg) // the next call tries again
	}
}

// reapReleased removes the orphans that are no longer pinned, if no other Store has pinned
// anything.
func (s *Store) reapReleased() {
	list := s.released.Take()
	if len(list) == 0 {
		return
	}
	done := false
	err := s.update(bg, func(t *tx) error {
		others, err := s.pins.others()
		if done = err == nil && !others; done {
			err = t.removeReleased(list)
		}
		return err
	})
	if err != nil || !done {
		s.orphans.Add(int64(len(list))) // something for Close to do
	}
}

// removeReleased removes inodes that may be orphans, with their marks.
func (t *tx) removeReleased(list []store.Ino) error {
	for _, ino := range list {
		id := int64(ino)
		_, err := t.number(selectDead, id)
		if errors.Is(err, fs.ErrNotExist) || err == nil && t.s.pins.pinned(ino) {
			continue
		}
		if err == nil {
			err = t.removeOrphan(id)
		}
		if err == nil {
			err = t.unmarkOne(id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unmarkOne removes the row of an orphan that is gone, unless it marks the highest number.
func (t *tx) unmarkOne(ino int64) error {
	highest, err := t.number(selectLast, int64(store.MaxIno))
	if err == nil && highest != ino {
		_, err = t.exec(deleteOrphan, ino)
	}
	return err
}

// hasOrphans reports whether there is something to reap, as far as that can be told.
func (s *Store) hasOrphans() bool {
	h := &s.probe
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := h.conn.number(selectOrphans, 0, 1)
	return err == nil
}

// reap removes the orphans that are not pinned, unless another Store has pinned anything: SQL
// cannot tell which inodes.
func (s *Store) reap(ctx context.Context) error {
	s.orphans.Store(0)
	for after := int64(0); after >= 0; {
		err := s.update(ctx, func(t *tx) (err error) {
			others, err := s.pins.others()
			if err != nil || others {
				s.orphans.Add(1) // something for Close to do
				after = -1
				return err
			}
			after, err = t.removeOrphans(after)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// removeOrphans removes the next orphans, except those that are pinned. It returns where to go on,
// -1 if there are no more. All that a write transaction finds before it changes anything is
// committed (see pins).
func (t *tx) removeOrphans(after int64) (next int64, err error) {
	list, err := t.orphanList(after)
	if err != nil {
		return 0, err
	}
	for _, ino := range list {
		if t.s.pins.pinned(store.Ino(ino)) {
			continue
		}
		if err := t.removeOrphan(ino); err != nil {
			return 0, err
		}
	}
	if next = -1; len(list) == reapBatch {
		next = list[reapBatch-1]
	}
	return next, t.unmark()
}

func (t *tx) orphanList(after int64) (list []int64, err error) {
	rows, err := t.query(selectOrphans, after, reapBatch)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows, t.dests[:1]); err != nil {
			return nil, err
		}
		list = append(list, t.numbers[0])
	}
	return list, t.explain(rows.Err())
}

// removeOrphan removes one orphan.
func (t *tx) removeOrphan(ino int64) error {
	low, high := store.ChunkRange(store.Ino(ino), 0)
	if err := t.deleteChunks(low, high); err != nil {
		return err
	}
	if _, err := t.exec(deleteXattrs, ino); err != nil {
		return err
	}
	_, err := t.exec(deleteNode, ino)
	return err
}

// unmark removes the rows of table orphan whose inodes no longer exist, except the row that marks
// the highest number.
func (t *tx) unmark() error {
	highest, err := t.number(selectLast, int64(store.MaxIno))
	if err == nil {
		_, err = t.exec(unmarkOrphans, highest)
	}
	return err
}

// deleteChunks deletes the rows of an inode in a range that ends with the last one it can have.
func (t *tx) deleteChunks(first, last int64) error {
	err := t.unshare(first, last)
	if err == nil {
		_, err = t.exec(deleteChunks, first, last)
	}
	return err
}
