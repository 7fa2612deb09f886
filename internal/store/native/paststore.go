package native

import (
	"context"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

// A pastStore is a volume as a snapshot sees it. It implements store.Store.
type pastStore struct {
	s        *Store
	snapshot snapshotRow
	seen     atomic.Uint64 // the version of the volume in which the snapshot was there, and one; 0 before
	closed   atomic.Bool
	pool     sync.Pool // of *past
}

var _ store.Store = (*pastStore)(nil)

// Begin implements store.Store.
func (p *pastStore) Begin(ctx context.Context) (store.Rx, error) {
	if p.closed.Load() {
		return nil, fs.ErrClosed
	}
	tx, err := p.s.db.Begin(ctx)
	if err != nil {
		return nil, explain(err)
	}
	if err := p.mustBe(tx); err != nil {
		tx.End()
		return nil, explain(err)
	}
	r, ok := p.pool.Get().(*past)
	if !ok {
		r = &past{at: p.snapshot.ID, next: p.snapshot.next, home: &p.pool}
	}
	r.tx = tx
	return r, nil
}

// mustBe returns ErrNoSnapshot if the snapshot was removed.
func (p *pastStore) mustBe(tx *sqlitefile.Rx) error {
	version := tx.Version()
	if p.seen.Load() == version+1 {
		return nil
	}
	err := tx.Guard(func() error {
		rows, err := snapshotRows(tx)
		if err == nil && !slices.Contains(rows, p.snapshot) {
			err = store.ErrNoSnapshot
		}
		return err
	})
	if err == nil {
		p.seen.Store(version + 1)
	}
	return err
}

// Version implements store.Store. What a snapshot sees never changes.
func (p *pastStore) Version() (version uint64, ok bool) {
	version, ok = p.s.db.Version()
	return pastVersion, ok && !p.closed.Load() && p.seen.Load() == version+1
}

// Info implements store.Store. The sizes are those of the volume.
func (p *pastStore) Info(ctx context.Context) (store.Info, error) {
	info, err := p.s.Info(ctx)
	info.LastIno = p.snapshot.next - 1
	return info, err
}

// Check implements store.Store. It checks the volume.
func (p *pastStore) Check(ctx context.Context, o *store.CheckOptions) (*store.Report, error) {
	return p.s.Check(ctx, o)
}

// Close implements store.Store. The Store that p comes from stays open.
func (p *pastStore) Close() error {
	if p.closed.Swap(true) {
		return fs.ErrClosed
	}
	return nil
}

// Update implements store.Writer.
func (p *pastStore) Update(context.Context, func(store.Tx) error) error { return store.ErrReadOnly }

// Sync implements store.Writer. A snapshot is as durable as the transaction that made it.
func (p *pastStore) Sync(ctx context.Context) error { return p.s.Sync(ctx) }

// Pin implements store.Writer. A snapshot keeps its inodes by itself.
func (p *pastStore) Pin(store.Ino) error { return nil }

// Unpin implements store.Writer.
func (p *pastStore) Unpin(store.Ino) {}
