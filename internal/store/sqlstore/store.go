package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/release"
)

// Options are the options of package sqlstore, which describes them.
type Options struct {
	ReadOnly    bool
	Create      bool
	BusyTimeout time.Duration
}

// A Store is a volume in a database. It implements store.Store.
type Store struct {
	db       *sql.DB
	ownDB    bool   // Close closes db
	name     string // of the volume in errors: its file, or the data source name if the file is not known
	file     string // of the database; "" if it has none
	readOnly bool
	timeout  time.Duration

	gate     release.Gate // everything happens inside it, except closing the Store
	readers  pool
	probe    versionProbe
	writer   writer
	pins     pins
	orphans  atomic.Int64 // that this Store made since it looked for some to remove
	released release.Queue
}

var _ store.Store = (*Store)(nil)

// fixedConns is how many connections a Store has besides those that read: that of the writer, that
// of the version probe, and that of the pins.
const fixedConns = 3

// Open opens the volume that a driver finds by a data source name, such as a path. The errors are
// those of OpenDB.
//
// Where there is no file SQLite makes an empty one, which is refused if Options.Create is not set,
// unless the name says otherwise: mode=rw.
func Open(driver, dsn string, o *Options) (*Store, error) {
	name, _, _ := strings.Cut(strings.TrimPrefix(dsn, "file:"), "?") // behind that there may be a key
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	s, err := open(db, name, o)
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	s.ownDB = true
	return s, nil
}

// OpenDB opens the volume in a database that the caller keeps, and must close after the Store. The
// Store takes connections from it and gives none back. The caller may use further connections.
//
// OpenDB returns store.ErrNotVolume for a database that is no volume, store.ErrNewerVersion for a
// volume of a later version of the schema, and store.ErrDamaged for a volume that contradicts
// itself. Errors are *fs.PathError.
func OpenDB(db *sql.DB, o *Options) (*Store, error) { return open(db, "database", o) }

func open(db *sql.DB, name string, o *Options) (*Store, error) {
	if o == nil {
		o = new(Options)
	}
	s := &Store{db: db, name: name, readOnly: o.ReadOnly, timeout: cmp.Or(o.BusyTimeout, defaultBusyTimeout)}
	limit := db.Stats().MaxOpenConnections
	if limit > 0 && limit <= fixedConns {
		return nil, s.pathError(fmt.Errorf("the DB allows %d connections, and a volume needs %d: call SetMaxOpenConns", limit, fixedConns+1))
	}
	s.readers.init(s, max(0, limit-fixedConns))
	s.writer.init(s)
	s.pins.init(s)
	if err := s.start(o.Create && !o.ReadOnly); err != nil {
		s.shut()
		return nil, s.pathError(err)
	}
	if !s.readOnly && s.hasOrphans() {
		_ = s.reap(bg) // if that fails, the next write will say why
	}
	return s, nil
}

// start connects the version probe, which looks whether the database is a volume, after making it
// one if that is wanted.
func (s *Store) start(create bool) error {
	c, err := s.connect(bg)
	if err != nil {
		return explain(err)
	}
	s.probe.conn = c
	var seq int64
	var schema string
	err = c.sql.QueryRowContext(bg, "PRAGMA database_list").Scan(&seq, &schema, &s.file)
	if err != nil {
		return explain(err)
	}
	s.name = cmp.Or(s.file, s.name)
	if create {
		if err := s.create(bg); err != nil {
			return err
		}
	}
	err = s.retry(bg, func() error { return admit(c) })
	if create && errors.Is(err, errEmpty) {
		err = errors.New("its connections do not share a database, as those to \":memory:\"; a volume needs a file")
	}
	return err
}

// errEmpty says that there is nothing in a database.
var errEmpty = fmt.Errorf("%w: it is empty, or was not there; Options.Create makes it one", store.ErrNotVolume)

// pathError names the volume.
func (s *Store) pathError(err error) error {
	return &fs.PathError{Op: "open", Path: s.name, Err: err}
}

// admit checks that a database is a volume of a version that this package reads.
func admit(c *conn) error {
	var application, version, tables int64
	var encoding string
	if err := c.ask("SELECT count(*) FROM sqlite_master", &tables); err != nil {
		return explain(err)
	}
	if err := errors.Join(c.ask("PRAGMA application_id", &application), c.ask("PRAGMA user_version", &version), c.ask("PRAGMA encoding", &encoding)); err != nil {
		return explain(err)
	}
	switch {
	case tables == 0 && application == 0:
		return errEmpty
	case application != store.ApplicationID:
		return fmt.Errorf("%w (application_id 0x%08x, not 0x%08x)", store.ErrNotVolume, uint32(application), store.ApplicationID)
	case version > store.CloneVersion:
		return fmt.Errorf("%w: its user_version is %d, this one reads up to %d", store.ErrNewerVersion, version, store.CloneVersion)
	case version < 1:
		return store.Damaged("its user_version is %d, and versions count from 1", version)
	case encoding != "UTF-8":
		return store.Damaged("its text is in %s", encoding)
	}
	return admitTables(c)
}

// admitTables checks that the tables have the columns that are read.
func admitTables(c *conn) error {
	if err := c.look(); err != nil {
		return explain(err)
	}
	queries := shapes[:]
	if c.clones {
		queries = append(slices.Clip(queries), "SELECT ino, base, chunks FROM origin LIMIT 0")
	}
	for _, query := range queries {
		err := c.run(query)
		if codeOf(err) == codeError {
			return store.Damaged("its tables are not those of a volume: %v", err)
		}
		if err != nil {
			return explain(err)
		}
	}
	return nil
}

// Begin starts a read transaction, on a connection of its own.
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
	c, err := s.readers.take(ctx)
	if err == nil {
		if err = s.snapshot(ctx, c); err != nil {
			s.readers.drop(c)
		}
	}
	if err != nil {
		s.gate.Leave()
		return nil, explain(err)
	}
	return &rx{reader: reader{c}, s: s}, nil
}

// Version implements store.Store. Only a query can tell whether another connection has changed the
// volume.
func (s *Store) Version() (version uint64, ok bool) { return 0, false }

// Features implements store.Store. There are none.
func (s *Store) Features() store.Features { return store.Features{} }

// Info describes the volume.
func (s *Store) Info(ctx context.Context) (store.Info, error) {
	r, err := s.begin(ctx)
	if err != nil {
		return store.Info{}, err
	}
	defer r.End()
	var pages, free, last int64
	info := store.Info{Path: s.name, ChunkSize: store.ChunkSize}
	for query, dest := range map[string]any{
		"PRAGMA page_count":                      &pages,
		"PRAGMA page_size":                       &info.PageSize,
		"PRAGMA freelist_count":                  &free,
		"PRAGMA user_version":                    &info.Version,
		"SELECT coalesce(max(ino), 0) FROM node": &last,
	} {
		if err := r.ask(query, dest); err != nil {
			return store.Info{}, explain(err)
		}
	}
	info.Size, info.FreeBytes = pages*int64(info.PageSize), free*int64(info.PageSize)
	info.LastIno = store.Ino(last)
	return info, nil
}

// Close removes orphans that are no longer pinned, waits for the transactions in progress and
// closes the connections.
func (s *Store) Close() error {
	s.released.Close()
	s.reapReleased()
	if s.orphans.Load() > 0 {
		_ = s.reap(bg) // the next Open does
	}
	if err := s.gate.Close(); err != nil {
		return err
	}
	s.shut()
	if s.ownDB {
		return s.db.Close()
	}
	return nil
}

// shut closes the connections.
func (s *Store) shut() {
	s.readers.close()
	s.pins.close()
	s.writer.close()
	if s.probe.conn != nil {
		s.probe.conn.discard()
	}
}
