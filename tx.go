package folio

import (
	"cmp"
	"context"
	"io/fs"
	"sync/atomic"
	"time"

	"github.com/foliofs/folio/internal/store"
)

// A Tx is a write transaction over many files. It reads its own changes, which no other reader sees
// before the commit. Goroutines must use it, and the files that it opens, one at a time. It ends
// with the [Volume.Update] that it comes from: from then on all its methods fail with fs.ErrClosed.
type Tx struct {
	Rx
	writer
	store  store.Tx // nil from the end on
	failed error    // of a call that had done half of its work, or of the caller's function
}

// Update calls fn with a transaction. If fn returns nil, all that it did through tx has happened;
// if it fails or panics, or ctx is cancelled meanwhile, nothing has. Transactions, and all other
// calls that change the volume, run one at a time.
//
// In fn use tx. A method of the Volume that changes the volume, Sync or Close would wait there for
// the end of fn, which waits for the call: it fails with [ErrBusy] after Options.BusyTimeout. So
// does such a call of another goroutine if fn takes longer than that. Methods that read work as
// everywhere, and do not see the changes of fn.
//
// If another process cuts the mapped file of the volume off while fn uses tx, a panic ends fn.
// Update recovers from it and returns the error. So fn must use defer to release its locks.
func (v *Volume) Update(ctx context.Context, fn func(tx *Tx) error) error {
	err := v.updates.wait(ctx)
	if err == nil && fn == nil {
		err = errNil
	}
	if err != nil {
		return v.volumeError("update", err)
	}
	tx := new(Tx)
	err = v.store.Update(ctx, func(s store.Tx) error {
		defer v.updates.begin()()
		tx.begin(v, s)
		defer tx.end()
		tx.failed = cmp.Or(fn(tx), tx.failed)
		return tx.failed
	})
	if tx.failed != nil {
		return err // as fn returned it
	}
	return v.volumeError("update", err)
}

// begin makes v a transaction of vol.
func (v *Tx) begin(vol *Volume, s store.Tx) {
	v.store, v.Rx.rx = s, s
	v.Rx.reader = reader{fs: vol, pin: &v.Rx, top: store.Root}
	v.writer = writer{from: &v.Rx.reader, tx: v}
}

// Open opens a file for reading, or a directory.
func (v *Tx) Open(name string) (*File, error) { return v.OpenFile(name, 0, 0) }

func (v *Tx) end() {
	v.store = nil
	v.Rx.finish()
}

// Sync returns when all changes that were made before survive the loss of power. Until then a loss
// of power may take the last of them, but none of those before, and never a part of one.
func (v *Volume) Sync(ctx context.Context) error { return v.volumeError("sync", v.sync(ctx)) }

func (v *Volume) sync(ctx context.Context) error {
	if err := v.updates.wait(ctx); err != nil {
		return err
	}
	return v.store.Sync(ctx)
}

// defaultBusyTimeout is what Options.BusyTimeout stands for if it is 0.
const defaultBusyTimeout = 5 * time.Second

// updates lets calls wait for the function of an Update, a Merge or a Restore for a limited time: a
// call that is made within the function would wait for ever.
type updates struct {
	timeout time.Duration
	running atomic.Pointer[chan struct{}] // closed when the function returns; nil while none runs
	upper   *updates                      // of the volume that keeps the changes of an overlay; else nil
}

func newUpdates(busyTimeout time.Duration) *updates {
	return &updates{timeout: cmp.Or(busyTimeout, defaultBusyTimeout)}
}

// begin says that a function of the caller begins to run in the write transaction. The result says
// that it has ended.
func (u *updates) begin() (end func()) {
	ended, endUpper := make(chan struct{}), func() {}
	if u.upper != nil {
		endUpper = u.upper.begin()
	}
	u.running.Store(&ended)
	return func() {
		u.running.Store(nil)
		close(ended)
		endUpper()
	}
}

// wait waits for the function that runs, if there is one. The store would wait for it, too, but
// without a limit. It fails if u is nil, as in a Volume that was never opened, or if ctx is nil.
func (u *updates) wait(ctx context.Context) error {
	switch {
	case u == nil:
		return fs.ErrClosed
	case ctx == nil:
		return errNil
	}
	err := u.waitOwn(ctx)
	if err == nil && u.upper != nil {
		err = u.upper.waitOwn(ctx)
	}
	return err
}

// waitOwn is wait without the volume below.
func (u *updates) waitOwn(ctx context.Context) error {
	ended := u.running.Load()
	if ended == nil {
		return nil
	}
	limit := time.NewTimer(u.timeout)
	defer limit.Stop()
	select {
	case <-*ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-limit.C:
		return errUpdateRuns
	}
}
