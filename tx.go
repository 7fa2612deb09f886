package folio

import (
	"cmp"
	"context"

	"github.com/foliofs/folio/store"
)

// A Tx is a write transaction over many files. It reads what it has written; nobody else does before it is committed. It belongs to one goroutine at
// a time, with the files that it opens, and ends with the Update that it comes from: from then on everything fails with fs.ErrClosed.
type Tx struct {
	Rx
	writer
	store  store.Tx // nil from the end on
	failed error    // of what had done half of its work: there is only the way back
}

// Update calls fn with a transaction. If fn returns nil, all that it did through tx has happened;
// if it fails or panics, or ctx is cancelled meanwhile, nothing has. Transactions, and all other
// calls that change the volume, run one at a time. In fn use tx: methods of the FS that change the
// volume, Sync and Close fail with ErrInUpdate there, as they would wait for the end of fn.
func (v *FS) Update(ctx context.Context, fn func(tx *Tx) error) error {
	if err := v.updater.mayWait(); err != nil {
		return err
	}
	return v.store.Update(ctx, func(s store.Tx) error {
		defer v.updater.enter()()
		tx := &Tx{store: s}
		tx.Rx.rx = s
		tx.Rx.reader = reader{fs: v, pin: &tx.Rx, top: store.Root}
		tx.writer = writer{from: &tx.Rx.reader, tx: tx}
		defer tx.end()
		return cmp.Or(fn(tx), tx.failed)
	})
}

// Open opens a file for reading, or a directory.
func (tx *Tx) Open(name string) (*File, error) { return tx.OpenFile(name, 0, 0) }

func (tx *Tx) end() { tx.store, tx.Rx.rx = nil, nil }

// Sync returns when all changes that were made before survive the loss of power. Until then a loss of power may take the last of
// them, but none of those before, and never a part of one.
func (v *FS) Sync(ctx context.Context) error {
	if err := v.updater.mayWait(); err != nil {
		return err
	}
	return v.store.Sync(ctx)
}
