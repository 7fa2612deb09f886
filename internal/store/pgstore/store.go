package pgstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/release"
)

// Options are the options of package pgstore, which describes them.
type Options struct {
	ReadOnly      bool
	Create        bool
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
	listener   listener
	objects    *objects // nil without a bucket
	collector  collector
	dataSize   atomic.Int64 // that table data had at least

	largeFiles atomic.Bool // the file that was read last by its path was large, as the next one may be
}

var (
	_ store.Store   = (*Store)(nil)
	_ store.Batcher = (*Store)(nil)
	_ store.Walker  = (*Store)(nil)

	_ store.ObjectKeeper = (*Store)(nil)
)

// Open opens the volume at an address, such as postgres://user@host/database?volume=photos.
//
// It returns an error that matches store.ErrNotVolume if the database has no volume of that name,
// store.ErrNewerVersion for a volume of a later version of the tables, and fs.ErrPermission if the
// server refuses the user. Errors are *fs.PathError.
//
// A volume that the role may only read, or that is on a standby server, is opened for reading.
func Open(ctx context.Context, url string, o *Options) (*Store, error) {
	if o == nil {
		o = new(Options)
	}
	a, err := parseAddress(url)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: shortened(url), Err: err}
	}
	s, err := open(ctx, a, o)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: a.shown, Err: err}
	}
	return s, nil
}

func open(ctx context.Context, a *address, o *Options) (*Store, error) {
	s := &Store{
		address: a.shown, schema: a.schema, readOnly: o.ReadOnly, sql: a.schema.statements(), turn: make(chan struct{}, 1),
		timeout: cmp.Or(o.BusyTimeout, defaultTimeout), lease: cmp.Or(o.Lease, defaultLease),
	}
	s.turn <- struct{}{}
	s.batch.init()
	s.pins.inodes = make(map[store.Ino]int)
	s.recent.most = cmp.Or(o.MaxStaleness, a.staleness)
	s.configure(a.config, o)
	var err error
	if s.pool, err = pgxpool.NewWithConfig(ctx, a.config); err != nil {
		return nil, explain(err)
	}
	if err := s.start(ctx, a, o); err != nil {
		s.objects.close()
		s.pool.Close()
		return nil, explain(err)
	}
	if s.recent.most > 0 {
		s.listener.begin(s)
	}
	return s, nil
}

// configure sets up connections for statements that look rows up by their keys. Plans must not
// depend on how large the tables were when a connection prepared them.
func (s *Store) configure(c *pgxpool.Config, o *Options) {
	c.MaxConns = int32(cmp.Or(o.MaxConns, defaultMaxConns))
	if c.ConnConfig.ConnectTimeout == 0 || c.ConnConfig.ConnectTimeout > s.timeout {
		c.ConnConfig.ConnectTimeout = s.timeout
	}
	c.ConnConfig.AfterNetConnect = watchPeer
	c.ConnConfig.OnNotice = noticeStandby
	params := c.ConnConfig.RuntimeParams
	for name, value := range map[string]string{
		"application_name": "folio", "default_transaction_isolation": "read committed", "lock_timeout": strconv.FormatInt(s.timeout.Milliseconds(), 10), "jit": "off",
		"plan_cache_mode": "force_generic_plan", "enable_seqscan": "off", "enable_hashjoin": "off", "enable_mergejoin": "off",
	} {
		if _, set := params[name]; !set {
			params[name] = value
		}
	}
}

// start opens the volume: its tables, its bucket, and a session. It tries again while the server
// starts or ends, and while none of several servers is the primary, but not if there is no server.
// The tables of a new volume are made when its bucket was tried: a volume without the bucket that
// the caller wants must not stay behind.
func (s *Store) start(ctx context.Context, a *address, o *Options) error {
	bucket := cmp.Or(o.Bucket, a.bucket)
	err := s.again(ctx, func() error { return s.openTables(ctx, false) })
	if errors.Is(err, errEmpty) && o.Create && !o.ReadOnly {
		if err := s.tryBucket(ctx, bucket, o); err != nil {
			return err
		}
		err = s.again(ctx, func() error { return s.openTables(ctx, true) })
	}
	if err != nil {
		return err
	}
	if err := s.openBucket(ctx, bucket, o); err != nil || s.readOnly {
		return err
	}
	return s.again(ctx, func() error { return s.beginSession(ctx) })
}

// again calls fn until it meets a server that runs.
func (s *Store) again(ctx context.Context, fn func() error) error {
	var d delay
	for {
		err := fn()
		if err == nil || !isBroken(err) || isAway(err) || !d.wait(ctx, s.timeout) {
			return err
		}
	}
}

// openTables looks whether the server is recent enough and whether the database has the volume,
// which it makes if that is wanted.
func (s *Store) openTables(ctx context.Context, create bool) error {
	ctx, cancel := context.WithTimeout(ctx, 2*s.timeout)
	defer cancel()
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	if err := admitServer(c.Conn().PgConn().ParameterStatus("server_version")); err != nil {
		return err
	}
	if c.Conn().PgConn().ParameterStatus("crdb_version") != "" {
		return errCockroach
	}
	version, err := s.schema.version(ctx, c)
	switch {
	case err != nil:
		return err
	case version == 0 && !create:
		return errEmpty
	case version < latest() && !s.readOnly:
		err = explainMigration(s.schema.migrate(ctx, c.Conn(), create), version)
	case version < latest():
		err = fmt.Errorf("its tables have version %d of %d: open it for writing once", version, latest())
	}
	return err
}

// beginSession adds the session, unless the role may only read.
func (s *Store) beginSession(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*s.timeout)
	defer cancel()
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	why, err := s.whyReader(ctx, c.Conn())
	if err != nil || why != nil {
		s.readOnly, s.why = why != nil, why
		return err
	}
	err = s.register(ctx, c.Conn())
	if code := codeOf(err); code == codeNoRight || code == codeReadOnly {
		s.readOnly, s.why = true, explain(err)
		return nil
	}
	if err == nil {
		s.session.begin(s)
		s.collector.begin(s)
	}
	return err
}

// refuseChange returns the error of a change that a Store refuses which may only read. It says why
// if the caller has not asked for that.
func (s *Store) refuseChange() error {
	if s.why == nil || errors.Is(s.why, store.ErrReadOnly) {
		return cmp.Or(s.why, store.ErrReadOnly)
	}
	return fmt.Errorf("%w: %v", store.ErrReadOnly, s.why)
}

var errCockroach = errors.New("the server is CockroachDB, whose advisory locks lock nothing: a volume needs PostgreSQL")

// oldest is the oldest version of PostgreSQL with which a volume works.
const oldest = 13

// admitServer refuses a server that is too old, by what it says about its version.
func admitServer(said string) error {
	major, _, _ := strings.Cut(said, ".")
	major, _, _ = strings.Cut(major, " ")
	if n, err := strconv.Atoi(major); err == nil && n < oldest {
		return fmt.Errorf("the server is PostgreSQL %s, and a volume needs %d or later: update the server", said, oldest)
	}
	return nil
}

// Begin starts a read transaction. The first method of it that needs the server takes the snapshot.
func (s *Store) Begin(ctx context.Context) (store.Rx, error) {
	r, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (s *Store) begin(ctx context.Context) (*rx, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.gate.Enter(); err != nil {
		return nil, err
	}
	return newRx(s), nil
}

// Version implements store.Store. Only the server can tell whether another Store has changed the
// volume.
func (s *Store) Version() (version uint64, ok bool) { return 0, false }

// Features implements store.Store.
func (s *Store) Features() store.Features {
	return store.Features{Batcher: s, Walker: s, Recaller: s, Objects: s, PartSize: s.partSize()}
}

// Address returns the address of the volume as errors show it, without a password.
func (s *Store) Address() string { return s.address }

// Info describes the volume.
func (s *Store) Info(ctx context.Context) (store.Info, error) {
	if err := s.gate.Enter(); err != nil {
		return store.Info{}, err
	}
	defer s.gate.Leave()
	info := store.Info{Path: s.address, Version: latest(), ChunkSize: store.ChunkSize}
	var last int64
	query := s.schema.in(`SELECT coalesce((SELECT max(ino) FROM @node), 0), current_setting('block_size')::bigint,
  (SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class AS c WHERE c.relnamespace = '`) + string(s.schema) + `'::regnamespace AND c.relkind = 'r')`
	err := s.repeat(ctx, func() error { return s.pool.QueryRow(ctx, query).Scan(&last, &info.PageSize, &info.Size) })
	info.LastIno = store.Ino(last)
	return info, explain(err)
}

// Sync implements store.Store. The server syncs each commit unless it was told otherwise, by
// synchronous_commit in the address. Then Sync commits a change of nothing durably, and with it all
// those before.
func (s *Store) Sync(ctx context.Context) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	if s.readOnly || s.pool.Config().ConnConfig.RuntimeParams["synchronous_commit"] == "" {
		return ctx.Err()
	}
	return explain(s.repeat(ctx, func() error {
		return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, "SELECT set_config('synchronous_commit', 'on', true), pg_logical_emit_message(true, 'folio', '')")
			return err
		})
	}))
}

// Close ends the session, which removes orphans that only this Store had pinned, waits for the
// transactions in progress and closes the connections.
func (s *Store) Close() error {
	s.released.Close()
	s.listener.stop()
	s.session.stop()
	s.collector.stop()
	if err := s.gate.Close(); err != nil {
		return err
	}
	s.recent.drop()
	s.unregister()
	s.objects.close()
	s.pool.Close()
	return nil
}

// connect takes a connection and makes the first trip of a transaction on it. If the server is out
// of reach, breaks the connection, or finds a conflict, connect tries again, for as long as the
// Store's timeout: nothing has happened then. It does not if a row function was called, except
// those of the first steps, which begin the transaction.
func (s *Store) connect(ctx context.Context, first int, steps ...step) (*pgxpool.Conn, error) {
	var d delay
	taken := false
	for i := first; i < len(steps); i++ {
		if row := steps[i].row; row != nil {
			steps[i].row = func(v [][]byte) { taken = true; row(v) }
		}
	}
	for {
		c, err := s.pool.Acquire(ctx)
		if err == nil {
			if err = s.roundTrip(ctx, c.Conn(), steps...); err == nil {
				return c, nil
			}
			s.abandon(c)
		}
		if taken || !isBroken(err) && !isConflict(err) || !d.wait(ctx, s.timeout) {
			return nil, cmp.Or(ctx.Err(), explain(err))
		}
	}
}

// abandon rolls back what runs on a connection and gives it back.
func (s *Store) abandon(c *pgxpool.Conn) {
	if !c.Conn().IsClosed() && c.Conn().PgConn().TxStatus() != 'I' {
		ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
		defer cancel()
		_ = s.roundTrip(ctx, c.Conn(), do(rollback)) // if that fails, the pool closes the connection
	}
	c.Release()
}
