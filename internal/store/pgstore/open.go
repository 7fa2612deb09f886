package pgstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/foliofs/folio/internal/store"
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
		s.session.stop()
		s.unregister()
		s.objects.close()
		s.pool.Close()
		return nil, explain(err)
	}
	if s.recent.most > 0 {
		s.listener.start(s.listenAlways)
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
	first, err := s.openOrMake(ctx, bucket, o)
	if err == nil && !first.ok {
		first.id, first.bucket, err = s.rememberedBucket(ctx)
	}
	if err != nil {
		return err
	}
	if err := s.openBucket(ctx, bucket, o, first); err != nil || s.readOnly {
		return err
	}
	if s.session.cancel == nil {
		err = s.again(ctx, func() error { return s.beginSession(ctx) })
	}
	if err == nil && !s.readOnly && s.sweepAfter > 0 {
		s.collector.start(s.collectRegularly)
	}
	return err
}

// openOrMake opens the tables, which it makes if that is wanted. If they are there, and one trip
// cannot open them, it looks at them.
func (s *Store) openOrMake(ctx context.Context, bucket string, o *Options) (first firstTrip, err error) {
	look := func() error { return s.again(ctx, func() error { return s.openTables(ctx) }) }
	if create := o.Create && !o.ReadOnly; !create || !o.Exclusive {
		err = s.again(ctx, func() (err error) { first, err = s.openAtOnce(ctx); return err })
		if err == nil && !first.ok {
			err = look()
		}
		if !create || !errors.Is(err, errEmpty) {
			return first, err
		}
	}
	if err := s.tryBucket(ctx, bucket, o); err != nil {
		return first, err
	}
	lost := false // an answer, so the volume may be our own
	err = s.again(ctx, func() (err error) {
		first, err = s.openAtOnce(ctx, s.schema.migration(0)...)
		lost = lost || isBroken(err) && !isConnecting(err)
		return err
	})
	if codeOf(err) != codeNotFirst {
		return first, err
	}
	switch err = look(); {
	case err == nil && o.Exclusive && lost:
		err = ErrUnknown
	case err == nil && o.Exclusive:
		err = fs.ErrExist
	}
	return first, err
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

// openTables looks whether the database holds the volume, and gives older tables the latest
// version.
func (s *Store) openTables(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*s.timeout)
	defer cancel()
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer s.abandon(c)
	for {
		version, err := s.schema.version(ctx, c.Conn())
		switch {
		case err != nil:
			return err
		case version == 0:
			return errEmpty
		case version == latest():
			return nil
		case s.readOnly:
			return fmt.Errorf("its tables have version %d of %d: open it for writing once", version, latest())
		}
		if _, err = s.simple(ctx, c, s.schema.migration(version)...); codeOf(err) != codeNotFirst {
			return explainMigration(err, version)
		}
		if err := s.roundTrip(ctx, c.Conn(), do(rollback)); err != nil {
			return err
		}
	}
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
	}
	return err
}

var errCockroach = errors.New("the server is CockroachDB, whose advisory locks lock nothing: a volume needs PostgreSQL")

// oldest is the oldest version of PostgreSQL with which a volume works.
const oldest = 13

// admitServer refuses a server that is too old, by the version that it reports.
func admitServer(said string) error {
	major, _, _ := strings.Cut(said, ".")
	major, _, _ = strings.Cut(major, " ")
	if n, err := strconv.Atoi(major); err == nil && n < oldest {
		return fmt.Errorf("the server is PostgreSQL %s, and a volume needs %d or later: update the server", said, oldest)
	}
	return nil
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
