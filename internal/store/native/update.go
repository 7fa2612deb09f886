package native

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/history"
	"github.com/foliofs/folio/internal/store/native/repair"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/sqlitefile"
)

// A tx is the write transaction that a Store gives to its callers.
type tx struct {
	*history.Tx
	s       *Store
	unknown bool // a change of its batch is not one of the observer
	shared  bool // it belongs to a batch
}

var _ store.PastReader = (*tx)(nil)

// At implements store.PastReader.
func (t *tx) At(name string) (store.Rx, error) { return history.RxOf(t.Rx.Engine, name) }

// Update implements store.Store.
func (s *Store) Update(ctx context.Context, fn func(tx store.Tx) error) error {
	orphans, err := s.updateOnly(ctx, func(t *tx) error { return fn(s.limited(t)) })
	s.maintain(orphans)
	return err
}

// updateOnly is Update without the removal of orphans. It returns how many orphans the transaction
// has made.
func (s *Store) updateOnly(ctx context.Context, fn func(t *tx) error) (orphans int, err error) {
	s.released.Begin()
	defer s.released.End()
	err = s.update(ctx, func(t *history.Tx) error {
		err := fn(&tx{Tx: t, s: s})
		orphans = t.Orphans
		return err
	})
	if err != nil {
		orphans = 0
	}
	return orphans, err
}

// update calls fn with a transaction.
func (s *Store) update(ctx context.Context, fn func(t *history.Tx) error) error {
	ctx, err := s.prepared(ctx)
	if err != nil {
		return err
	}
	var own error // is the caller's, and stays as it is
	err = s.db.Update(ctx, func(db *sqlitefile.Tx) error {
		t := s.begin(db, new(rowstore.Tx))
		if own = fn(t); own == nil {
			own = s.finish(t)
		}
		return own
	})
	if own == nil {
		own = rowstore.Explain(err)
	}
	if errors.Is(own, store.ErrFull) {
		s.full.Store(true)
	}
	return own
}

// begin returns the write transaction that runs in one of the engine, and uses r for it.
func (s *Store) begin(db *sqlitefile.Tx, r *rowstore.Tx) *history.Tx {
	same := r.Begin(db, &s.writer)
	s.history.Begin(r, same)
	return &s.history
}

// finish writes the inodes that Put has put off (M2), just before the commit.
func (s *Store) finish(t *history.Tx) error {
	if t.Cloneless {
		s.cloneless.Store(true)
		t.Cloneless = false
	}
	return t.Tx.Finish()
}

// prepared prepares the volume to be written, and returns the context for that and the transaction.
func (s *Store) prepared(ctx context.Context) (context.Context, error) {
	if !s.ready.Load() { // preparing waits for locks, too
		ctx = s.db.Internal(private.Key{}).WithBusyTimeout(ctx, s.timeout)
	}
	return ctx, rowstore.Explain(s.prepare(ctx))
}

// Sync implements store.Store.
func (s *Store) Sync(ctx context.Context) error { return rowstore.Explain(s.db.Sync(ctx)) }

// prepare makes a volume ready for its first write. It switches to a log, so that a commit is one
// write and does not wait for readers.
func (s *Store) prepare(ctx context.Context) error {
	if s.ready.Load() {
		return nil
	}
	s.preparing.Lock()
	defer s.preparing.Unlock()
	if err := s.refuseAdditions(ctx); err != nil {
		return err
	}
	mode, err := s.db.JournalMode(ctx)
	if err == nil && mode != sqlitefile.JournalWAL {
		if err = s.db.SetJournalMode(ctx, sqlitefile.JournalWAL); errors.Is(err, sqlitefile.ErrBusy) || errors.Is(err, sqlitefile.ErrFull) {
			err = nil // it works without, only slower
		}
	}
	s.ready.Store(err == nil)
	return err
}

// refuseAdditions refuses to write a volume if other programs have added objects to its tables that
// this package does not maintain, for example a trigger.
func (s *Store) refuseAdditions(ctx context.Context) error {
	var added []string
	err := s.db.View(ctx, func(rx *sqlitefile.Rx) (err error) {
		if err := repair.CheckSchemaText(rx); err != nil {
			return &fs.PathError{Op: "write", Path: s.db.Path(), Err: err}
		}
		added, err = repair.Additions(rx)
		return err
	})
	if err == nil && len(added) > 0 {
		err = &fs.PathError{Op: "write", Path: s.db.Path(), Err: fmt.Errorf("%w: %s", store.ErrReadOnly, added[0])}
	}
	return err
}
