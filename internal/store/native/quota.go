package native

import (
	"fmt"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/clone"
)

// A quota is a limit to how long the volume's file may be. It applies only to transactions that
// Store.Update begins, and there only to the methods that add something. Removing, repairing and
// compacting may take a page more than the file has.
//
//	Q1  A transaction that made the file longer than the limit, and longer than it was, is not
//	    committed.
//	Q2  Before such a transaction fails, unpinned orphans are removed, and their pages are used
//	    again.

// Limit sets how many bytes the volume's file may have; 0 means any number. It must be called
// before the first transaction.
func (s *Store) Limit(bytes int64) { s.limit = max(bytes, 0) }

// limited returns t with the quota, if there is one.
func (s *Store) limited(t *tx) store.Tx {
	if s.limit == 0 {
		return t
	}
	info := t.DB.Info()
	return &limitedTx{tx: t, pageSize: int64(info.PageSize), pages: max(s.limit/int64(info.PageSize), int64(info.PageCount))}
}

// A limitedTx is a tx that keeps the quota.
type limitedTx struct {
	*tx
	pageSize  int64
	pages     int64 // that the file may have
	reclaimed bool
}

const (
	quotaPiece = 16 * store.ChunkSize // bytes that are written between two looks at the quota
	quotaSlack = 16                   // pages that a change takes besides content, in most cases
)

// Insert implements store.Tx.
func (t *limitedTx) Insert(n *store.Node) error {
	return t.within(0, func() error { return t.tx.Insert(n) })
}

// Link implements store.Tx.
func (t *limitedTx) Link(dir store.Ino, e store.Entry) error {
	return t.within(0, func() error { return t.tx.Link(dir, e) })
}

// SetXattr implements store.Tx.
func (t *limitedTx) SetXattr(ino store.Ino, name string, value []byte) error {
	return t.within(len(value), func() error { return t.tx.SetXattr(ino, name, value) })
}

// CloneContent implements store.Cloner.
func (t *limitedTx) CloneContent(from *store.Node, to store.Ino) error {
	return t.within(clone.MaxCopied, func() error { return t.tx.CloneContent(from, to) })
}

// Truncate implements store.Tx. If other files share the cut part, they get a copy first.
func (t *limitedTx) Truncate(n *store.Node, size int64) error {
	if !t.HasClones() {
		return t.tx.Truncate(n, size)
	}
	given, err := t.given(n.Ino, max(0, n.Size-size))
	if err != nil {
		return t.Fail(err)
	}
	return t.within(given, func() error { return t.tx.Truncate(n, size) })
}

// given returns how many bytes clones get at most when some bytes of an inode change.
func (t *limitedTx) given(ino store.Ino, bytes int64) (int, error) {
	s, err := t.Sharing(ino)
	if err != nil || !s.IsBase {
		return 0, err
	}
	clones, err := t.ClonesOf(ino)
	return len(clones) * int(bytes+2*store.ChunkSize), err // a part of a chunk is a whole one for them
}

// WriteAt implements store.Tx.
func (t *limitedTx) WriteAt(n *store.Node, p []byte, off int64) error {
	if off < 0 || off > store.MaxSize-int64(len(p)) {
		return t.tx.WriteAt(n, p, off) // which refuses it
	}
	for len(p) > 0 {
		part := p[:min(len(p), quotaPiece-int(off%quotaPiece))]
		given, err := t.given(n.Ino, int64(len(part)))
		if err != nil {
			return t.Fail(err)
		}
		if err := t.within(len(part)+given, func() error { return t.tx.WriteAt(n, part, off) }); err != nil {
			return err
		}
		p, off = p[len(part):], off+int64(len(part))
	}
	return nil
}

// within calls add, which is about to store some bytes, and fails if the quota did not allow that
// (Q1).
func (t *limitedTx) within(bytes int, add func() error) error {
	if err := t.makeRoom(int64(bytes)/t.pageSize + quotaSlack); err != nil {
		return t.Fail(err)
	}
	if err := add(); err != nil {
		return err
	}
	if int64(t.DB.Info().PageCount) > t.pages {
		return t.Fail(fmt.Errorf("%w: it may have %d bytes", store.ErrFull, t.s.limit))
	}
	return nil
}

// makeRoom removes orphans if there may be too few pages (Q2). They come from transactions that
// were published before: see holds.
func (t *limitedTx) makeRoom(pages int64) error {
	info := t.DB.Info()
	if t.reclaimed || int64(info.PageCount)-int64(info.FreePages)+pages <= t.pages {
		return nil
	}
	t.reclaimed = true
	for after := store.Ino(0); ; {
		found, err := t.s.listOrphans(bg, after)
		if err != nil || found.last == 0 {
			return nil // then there is no space, and the write fails with ErrFull
		}
		if err := t.s.removeUnpinned(t.Tx, found.orphans); err != nil {
			return err
		}
		after = found.last
	}
}
