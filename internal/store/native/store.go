package native

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/release"
	"github.com/foliofs/folio/sqlitefile"
)

// Options say how a volume is opened.
type Options = sqlitefile.Options

// A Store is a volume in a database. It implements store.Store.
type Store struct {
	db    *sqlitefile.DB
	pins  pins
	limit int64       // see quota; 0 for none
	ready atomic.Bool // prepare was here

	timeout time.Duration // Options.BusyTimeout

	preparing      sync.Mutex   // held by the goroutine that prepares the volume to be written
	reaping        sync.Mutex   // held by the goroutine that removes orphans
	orphans        atomic.Int64 // about how many wait for reap, which sets it to 0; other code only adds to it
	released       release.Queue
	full           atomic.Bool   // a transaction found no room: the pages of orphans are wanted
	observedSchema atomic.Uint64 // the schema cookie that Observed saw last, and one; 0 before
	cloneless      atomic.Bool   // a transaction has removed the last clone
	reapDisabled   atomic.Bool   // an orphan was found that has a name: none is removed before Repair

	// The fields from here on belong to the write transaction that runs.
	next   store.Ino // no number from here on was ever given by this Store
	mark   store.Ino // the row of table orphan that was left to mark the highest number, when it was
	shared tx        // of the changes of a batch
	cache  cache
	row    rowRoom
	was    wasRoom
	chunk  [store.ChunkSize]byte
}

var _ store.Store = (*Store)(nil)

// Open opens the volume at path, for writing too if its file allows that. A database that is no
// volume is refused with store.ErrNotVolume, one of a later version of the schema with
// store.ErrNewerVersion, one of a version that there never was with store.ErrDamaged. Errors are
// *fs.PathError with the path.
//
// Open removes files without a name that a process left open when it ended. In a large volume Close
// does so. If the volume is damaged, so that one of these files still has a name, none is removed
// before Repair.
func Open(path string, o *Options) (*Store, error) {
	options := Options{}
	if o != nil {
		options = *o
	}
	options.Durability = sqlitefile.DurabilityNormal
	db, err := sqlitefile.Open(path, &options)
	if err != nil {
		return nil, pathError(path, err)
	}
	s, err := newStore(db, options.BusyTimeout)
	if err != nil {
		return nil, err
	}
	if !options.ReadOnly && !options.Immutable {
		_ = s.reapLeft(bg) // if that fails, the next write says why
	}
	return s, nil
}

// OpenReaderAt opens the volume in the first size bytes of r for reading, as
// sqlitefile.OpenReaderAt does. Errors are those of Open.
func OpenReaderAt(r io.ReaderAt, size int64, o *Options) (*Store, error) {
	db, err := sqlitefile.OpenReaderAt(r, size, o)
	if err != nil {
		return nil, err
	}
	return newStore(db, 0)
}

// newStore returns the store on a database, which it closes if that is no volume.
func newStore(db *sqlitefile.DB, timeout time.Duration) (*Store, error) {
	s := &Store{db: db, timeout: timeout}
	db.Internal(private.Key{}).KnownTriggers(store.IsOwnTrigger)
	s.pins.init(db)
	if err := admit(db); err != nil {
		_ = db.Close()
		return nil, pathError(db.Path(), err)
	}
	return s, nil
}

// Version implements store.Store.
func (s *Store) Version() (version uint64, ok bool) { return s.db.Version() }

// pathError names the volume, unless err does so already.
func pathError(path string, err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe
	}
	return &fs.PathError{Op: "open", Path: path, Err: err}
}

// admit checks that a database is a volume of a version that this package reads.
func admit(db *sqlitefile.DB) error {
	return db.View(context.Background(), func(tx *sqlitefile.Rx) error {
		if err := admitHeader(tx); err != nil {
			return restored(tx, err)
		}
		return checkTables(tx)
	})
}

// admitHeader is admit without a look at the tables.
func admitHeader(tx *sqlitefile.Rx) error {
	info := tx.Info()
	if info.ApplicationID != store.ApplicationID {
		return fmt.Errorf("%w (application_id 0x%08x, not 0x%08x)", store.ErrNotVolume, info.ApplicationID, store.ApplicationID)
	}
	if info.UserVersion > store.CloneVersion {
		return fmt.Errorf("%w: its user_version is %d, this one reads up to %d", store.ErrNewerVersion, info.UserVersion, store.CloneVersion)
	}
	if info.UserVersion < 1 {
		return fmt.Errorf("%w: its user_version is %d, and versions count from 1", store.ErrDamaged, info.UserVersion)
	}
	return nil
}

// checkTables makes sure that the tables are there and their columns in the known order.
func checkTables(tx *sqlitefile.Rx) error {
	if tx.Info().Encoding != "UTF-8" {
		return fmt.Errorf("%w: its text is in %s", store.ErrDamaged, tx.Info().Encoding)
	}
	shapes := tableShapes
	if tx.UserVersion() >= store.CloneVersion {
		shapes = append(slices.Clip(shapes), originShape)
	}
	for _, want := range shapes {
		t, err := tx.Table(want.name)
		switch {
		case errors.Is(err, sqlitefile.ErrNoTable):
			return wayOut(tx, fmt.Errorf("%w: there is no table %s", store.ErrDamaged, want.name))
		case err != nil:
			return wayOut(tx, err)
		}
		if t.WithoutRowid() != want.withoutRowid || !hasColumns(t, want.columns) {
			return wayOut(tx, fmt.Errorf("%w: table %s is not the one of a volume", store.ErrDamaged, want.name))
		}
	}
	return nil
}

// wayOut returns the error of mustParse if the schema is damaged, and otherwise err.
func wayOut(tx *sqlitefile.Rx, err error) error {
	if found := mustParse(tx); errors.Is(found, store.ErrDamaged) {
		return found
	}
	return err
}

// A tableShape has the properties of a table that a reader relies on. Further columns do no harm.
type tableShape struct {
	name         string
	withoutRowid bool
	columns      []string
}

var tableShapes = []tableShape{
	{"node", false, []string{"ino", "mode", "nlink", "uid", "gid", "size", "holes", "mtime_ns", "ctime_ns", "atime_ns", "rdev"}},
	{"entry", true, []string{"parent", "name", "ino", "type"}},
	{"data", false, []string{"id", "bytes"}},
	{"xattr", true, []string{"ino", "name", "value"}},
	{"orphan", false, []string{"ino"}},
}

// originShape is the table of store.CloneTables.
var originShape = tableShape{"origin", false, []string{"ino", "base", "chunks"}}

func hasColumns(t sqlitefile.Table, names []string) bool {
	columns := t.Columns()
	if len(columns) < len(names) {
		return false
	}
	for i, name := range names {
		if columns[i].Name != name {
			return false
		}
	}
	return true
}

// Begin starts a read transaction. While this process has been reading anyway, it costs no system
// call.
func (s *Store) Begin(ctx context.Context) (store.Rx, error) {
	tx, err := s.db.Begin(ctx)
	if err != nil {
		return nil, explain(err)
	}
	return rx{tx}, nil
}

// Close removes orphans that are no longer pinned, waits for the transactions in progress and
// closes the database.
func (s *Store) Close() error {
	s.released.Close()
	s.reapReleased()
	if s.orphans.Load() > 0 {
		_ = s.reap(context.Background()) // the next Open does
	}
	if s.ready.Load() {
		_ = s.sweep(context.Background(), s.update) // of snapshots that a process removed in part; the next Close does
		_ = s.endClones(context.Background())
	}
	return explainClose(s.db.Close())
}

// Info describes the volume by the header of its database and its last inode.
func (s *Store) Info(ctx context.Context) (info store.Info, err error) {
	err = s.db.View(ctx, func(tx *sqlitefile.Rx) error {
		h := tx.Info()
		info = store.Info{
			Path:      s.db.Path(),
			Version:   int(h.UserVersion),
			Size:      int64(h.PageCount) * int64(h.PageSize),
			PageSize:  h.PageSize,
			FreeBytes: int64(h.FreePages) * int64(h.PageSize),
			ChunkSize: store.ChunkSize,
			SQLite:    writerName(h.WriterVersion),
		}
		info.LastIno, err = lastIno(tx)
		return err
	})
	return info, err
}

// ownWriter is Info.WriterVersion of this engine. SQLite 3.50.4 has the same.
const ownWriter = 3_050_004

func writerName(version int) string {
	if version <= 0 || version == ownWriter {
		return ""
	}
	return fmt.Sprintf("%d.%d.%d", version/1_000_000, version/1000%1000, version%1000)
}

func lastIno(tx *sqlitefile.Rx) (store.Ino, error) {
	t, err := tx.Table("node")
	if err != nil {
		return 0, err
	}
	c := t.Cursor()
	if ok, err := c.Last(); err != nil || !ok {
		return 0, err
	}
	row, err := c.Row()
	return store.Ino(row.Rowid()), err
}
