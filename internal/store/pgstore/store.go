package pgstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/release"
)

// Options are the options of package pgstore, which describes them.
type Options struct {
	ReadOnly      bool
	Create        bool
	Exclusive     bool
	BusyTimeout   time.Duration
	MaxConns      int
	MaxStaleness  time.Duration
	Lease         time.Duration
	Bucket        string
	BucketTimeout time.Duration
	CacheDir      string
	CacheSize     int64
	SweepAfter    time.Duration
}

const (
	defaultTimeout  = 5 * time.Second
	defaultMaxConns = 16
	defaultLease    = 30 * time.Second

	defaultBucketTimeout = 30 * time.Second
	defaultSweepAfter    = time.Hour
	defaultMemoryCache   = 64 << 20
	defaultDirCache      = 1 << 30
)

// A Store is a volume in a database of PostgreSQL. It implements store.Store, store.Batcher and
// store.Walker.
type Store struct {
	pool     *pgxpool.Pool
	address  string // without the password
	schema   schemaName
	sql      [numStatements]string
	readOnly bool
	why      error // why the server lets the Store only read; or nil
	timeout  time.Duration
	lease    time.Duration

	gate       release.Gate  // everything happens inside it, except closing the Store
	turn       chan struct{} // holds one token, which the function of a write transaction takes
	batch      batch
	optimistic optimisticCache
	numbers    numbers
	pins       pins
	released   release.Queue
	session    session
	recent     recent
	listener   background // drops the recent snapshot when the server says that the volume has changed
	objects    *objects   // nil without a bucket
	collector  background
	sweepAfter time.Duration // 0 without a bucket
	opened     *store.Info   // what the first trip has read; or nil
	dataSize   atomic.Int64  // that table data had at least

	largeFiles atomic.Bool // the file that was read last by its path was large, as the next one may be
}

var (
	_ store.Store   = (*Store)(nil)
	_ store.Batcher = (*Store)(nil)
	_ store.Walker  = (*Store)(nil)

	_ store.ObjectKeeper = (*Store)(nil)
)

// refuseChange returns the error of a change that a Store refuses which may only read. It says why
// if the caller has not asked for that.
func (s *Store) refuseChange() error {
	if s.why == nil || errors.Is(s.why, store.ErrReadOnly) {
		return cmp.Or(s.why, store.ErrReadOnly)
	}
	return fmt.Errorf("%w: %v", store.ErrReadOnly, s.why)
}

var bg = context.Background()
