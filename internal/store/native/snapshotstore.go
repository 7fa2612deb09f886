package native

import (
	"context"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/history"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/sqlitefile"
)

// A snapshotStore is a volume as a snapshot sees it. It implements store.Store.
type snapshotStore struct {
	s        *Store
	snapshot history.SnapshotRow
	seen     atomic.Uint64 // the version of the volume in which the snapshot was there, and one; 0 before
	closed   atomic.Bool
	pool     sync.Pool // of *history.Rx
}

var _ store.Store = (*snapshotStore)(nil)

// Begin implements store.Store.
func (p *snapshotStore) Begin(ctx context.Context) (store.Rx, error) {
	if p.closed.Load() {
		return nil, fs.ErrClosed
	}
	tx, err := p.s.db.BeginView(ctx)
	if err != nil {
		return nil, rowstore.Explain(err)
	}
	if err := p.mustBe(tx); err != nil {
		tx.End()
		return nil, rowstore.Explain(err)
	}
	r, ok := p.pool.Get().(*history.Rx)
	if !ok {
		r = &history.Rx{ID: p.snapshot.ID, Next: p.snapshot.Next, Pool: &p.pool}
	}
	r.Engine = tx
	return r, nil
}

// mustBe returns ErrNoSnapshot if the snapshot was removed.
func (p *snapshotStore) mustBe(tx *sqlitefile.Rx) error {
	version := tx.Version()
	if p.seen.Load() == version+1 {
		return nil
	}
	err := tx.Guard(func() error {
		rows, err := history.SnapshotRows(tx)
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

// Version implements store.Store. A snapshot never changes.
func (p *snapshotStore) Version() (version uint64, ok bool) {
	version, ok = p.s.db.Version()
	return history.SnapshotVersion, ok && !p.closed.Load() && p.seen.Load() == version+1
}

// Features implements store.Store.
func (p *snapshotStore) Features() store.Features { return store.Features{} }

// Info implements store.Store. The sizes are the volume's.
func (p *snapshotStore) Info(ctx context.Context) (store.Info, error) {
	info, err := p.s.Info(ctx)
	info.LastIno = p.snapshot.Next - 1
	return info, err
}

// Check implements store.Store. It checks the volume.
func (p *snapshotStore) Check(ctx context.Context, o *store.CheckOptions) (*store.Report, error) {
	return p.s.Check(ctx, o)
}

// Close implements store.Store. The Store that p comes from stays open.
func (p *snapshotStore) Close() error {
	if p.closed.Swap(true) {
		return fs.ErrClosed
	}
	return nil
}

// Update implements store.Writer.
func (p *snapshotStore) Update(context.Context, func(store.Tx) error) error { return store.ErrReadOnly }

// Sync implements store.Writer. A snapshot is as durable as the transaction that made it.
func (p *snapshotStore) Sync(ctx context.Context) error { return p.s.Sync(ctx) }

// Pin implements store.Writer. A snapshot keeps its inodes by itself.
func (p *snapshotStore) Pin(store.Ino) error { return nil }

// Unpin implements store.Writer.
func (p *snapshotStore) Unpin(store.Ino) {}
