package sqlstore

import (
	"cmp"
	"context"

	"github.com/foliofs/folio/internal/store"
)

// A writer holds the connection that all write transactions run on, one at a time. The goroutine
// whose turn it is owns its fields.
type writer struct {
	store *Store
	turn  chan struct{} // holds one token, which a write transaction takes
	conn  *conn         // nil before the first transaction, and after a transaction that could not be ended
	ready bool          // prepare was here

	last   store.Ino // no higher number was ever given by this Store
	clean  bool      // conn has committed nothing since Sync
	synced int64     // data_version of conn during Sync, if it is clean
	chunk  [store.ChunkSize]byte
}

func (w *writer) init(s *Store) {
	w.store, w.turn = s, make(chan struct{}, 1)
	w.turn <- struct{}{}
}

// enterWriter waits for the turn to write. Without an error leaveWriter must follow.
func (s *Store) enterWriter(ctx context.Context) (*writer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.gate.Enter(); err != nil {
		return nil, err
	}
	select {
	case <-s.writer.turn:
		return &s.writer, nil
	case <-ctx.Done():
		s.gate.Leave()
		return nil, ctx.Err()
	}
}

func (s *Store) leaveWriter() {
	s.writer.turn <- struct{}{}
	s.gate.Leave()
}

// prepare makes a volume ready for its first write. It switches to a log, so that a commit does not
// wait for readers.
func (w *writer) prepare(ctx context.Context) (err error) {
	if w.store.readOnly {
		return store.ErrReadOnly
	}
	if w.conn == nil {
		if w.conn, err = w.store.connect(ctx, "PRAGMA synchronous = NORMAL"); err != nil {
			return explain(err)
		}
	}
	if w.ready {
		return nil
	}
	if err := w.useLog(); err != nil {
		return explain(err)
	}
	w.ready = true
	return nil
}

// useLog switches to WAL mode. If another connection is in the way, or the database cannot have a
// log, the Store works without a log, only slower.
func (w *writer) useLog() error {
	var mode string
	err := w.conn.ask("PRAGMA journal_mode = WAL", &mode)
	if isBusy(err) {
		return nil
	}
	return err
}

// transact calls fn within a transaction, which it commits if fn returns nil and ctx is not
// cancelled by then.
func (w *writer) transact(ctx context.Context, fn func(c *conn) error) error {
	c := w.conn
	if err := w.store.retry(ctx, func() error { _, err := c.exec(beginImmediate); return err }); err != nil {
		return err
	}
	done := false
	c.changing = true
	defer func() {
		c.changing, c.failed = false, nil
		if !done {
			w.rollback()
		}
	}()
	err := c.look()
	if err == nil {
		err = fn(c)
	}
	if err != nil {
		return err
	}
	if err := cmp.Or(c.failed, ctx.Err()); err != nil {
		return err
	}
	// Without a log a commit waits for readers.
	if err := w.store.retry(ctx, func() error { _, err := c.exec(commit); return err }); err != nil {
		return err
	}
	done, w.clean = true, false
	return nil
}

// rollback ends a transaction that fails. If that cannot be done, or SQLite has done so already,
// the connection is not used again.
func (w *writer) rollback() {
	if _, err := w.conn.exec(rollback); err != nil {
		w.close()
	}
}

func (w *writer) close() {
	if w.conn != nil {
		w.conn.discard()
		w.conn, w.clean = nil, false
	}
}

// Sync implements store.Store. SQL cannot ask for a sync, but a commit can sync: the whole log, or
// the whole file.
func (s *Store) Sync(ctx context.Context) error {
	w, err := s.enterWriter(ctx)
	if err != nil {
		return err
	}
	defer s.leaveWriter()
	if s.readOnly {
		return nil
	}
	if err := w.prepare(ctx); err != nil {
		return err
	}
	if w.clean {
		if seen, err := w.conn.number(dataVersion); err == nil && seen == w.synced {
			return nil
		}
	}
	return w.sync(ctx)
}

// sync commits a change of nothing, durably.
func (w *writer) sync(ctx context.Context) error {
	if err := w.conn.run("PRAGMA synchronous = EXTRA"); err != nil {
		return explain(err)
	}
	var seen int64
	err := w.transact(ctx, func(c *conn) (err error) {
		if seen, err = c.number(dataVersion); err == nil { // and no other connection commits anything
			_, err = c.exec(touch)
		}
		return err
	})
	if err != nil {
		w.close() // it syncs too often
		return err
	}
	w.clean, w.synced = true, seen
	return explain(w.conn.run("PRAGMA synchronous = NORMAL"))
}
