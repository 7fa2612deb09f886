package native

import (
	"cmp"
	"context"
	"errors"

	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/sqlitefile"
)

// Small changes of a volume run in batches of the engine ([sqlitefile.DB.Batch]). The changes of
// one transaction share one tx: an inode that several of them change, as that of a directory is, is
// written once, before the commit.
//
// A refused change that has changed nothing, for example because a name exists, must not cost the
// other changes of its transaction a second run. Batch hides its error from the engine, and the
// transaction goes on.

// Batch implements store.Batcher. A volume with a quota does not batch: a change that meets the
// quota fails half-way.
func (s *Store) Batch(fn func(tx store.Tx) error) error {
	if s.limit != 0 {
		return s.Update(bg, fn)
	}
	orphans, err := s.batch(bg, fn, false)
	if err != nil {
		orphans = 0
	}
	s.maintain(orphans)
	return err
}

// batch is Batch, or BatchKnown, without the removal of orphans. It returns how many orphans the
// change has made.
func (s *Store) batch(ctx context.Context, fn func(tx store.Tx) error, known bool) (orphans int, err error) {
	s.released.Begin()
	defer s.released.End()
	ctx, err = s.prepared(ctx)
	if err != nil {
		return 0, err
	}
	var own error    // of the last run, as fn returned it
	refused := false // own is an error of a change that changed nothing
	change := func(db *sqlitefile.Tx) error {
		t := s.batchTx(db)
		before := t.Orphans
		t.Changed, t.unknown = false, t.unknown || !known
		own = fn(t)
		own = cmp.Or(own, t.Failed)
		orphans = t.Orphans - before
		if refused = own != nil && !t.Changed; refused {
			return nil
		}
		return own
	}
	err = s.db.Batch(ctx, change)
	switch {
	case err == nil && refused:
		err = own
	case err == nil:
	case !refused && own != nil && errors.Is(err, own):
		err = own // the caller's, which stays as it is
	default:
		err = rowstore.Explain(err)
	}
	if errors.Is(err, store.ErrFull) {
		s.full.Store(true)
	}
	return orphans, err
}

// batchTx returns the tx that the changes of a transaction share.
func (s *Store) batchTx(db *sqlitefile.Tx) *tx {
	t := &s.shared
	if s.sharedRows.DB != db {
		*t = tx{Tx: s.begin(db, &s.sharedRows), s: s, shared: true}
		db.BeforeCommit(s.finishBatch)
	}
	return t
}

// finishBatch is finish of the transaction of a batch.
func (s *Store) finishBatch() error {
	if !s.shared.unknown {
		s.sharedRows.DB.Internal(private.Key{}).MarkKnown()
	}
	return s.finish(s.shared.Tx)
}
