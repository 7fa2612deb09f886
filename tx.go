package folio

import (
	"cmp"
	"context"

	"github.com/foliofs/folio/internal/store"
)

// A Tx is a write transaction over many files. It reads its own changes, which no other reader sees
// before the commit. It belongs to one goroutine at a time, with the files that it opens. It ends
// with the [Volume.Update] that it comes from: from then on all its methods fail with fs.ErrClosed.
type Tx struct {
	Rx
	writer
	store  store.Tx // nil from the end on
	failed error    // of a call that had done half of its work, or of the caller's function
}

// Update calls fn with a transaction. If fn returns nil, all that it did through tx has happened;
// if it fails or panics, or ctx is cancelled meanwhile, nothing has. Transactions, and all other
// calls that change the volume, run one at a time. In fn use tx: methods of the Volume that change
// the volume, Sync and Close fail with ErrInUpdate there, as they would wait for the end of fn.
//
// If another process cuts the mapped file of the volume off while fn uses tx, a panic ends fn.
// Update recovers from it and returns the error. So fn must use defer to release its locks.
func (v *Volume) Update(ctx context.Context, fn func(tx *Tx) error) error {
	if err := v.updater.mayWait(); err != nil {
		return v.volumeError("update", err)
	}
	tx := new(Tx)
	err := v.store.Update(ctx, func(s store.Tx) error {
		defer v.updater.enter()()
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
	if err := v.updater.mayWait(); err != nil {
		return err
	}
	return v.store.Sync(ctx)
}
