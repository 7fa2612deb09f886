package native

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/history"
	"github.com/foliofs/folio/internal/store/native/repair"
	"github.com/foliofs/folio/internal/store/native/rowstore"
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
	reapDisabled   atomic.Bool   // an orphan was found with a name: none is removed before Repair

	// The fields from here on belong to the write transaction that runs.
	writer     rowstore.Writer
	history    history.Tx
	shared     tx // of the changes of a batch
	sharedRows rowstore.Tx
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
		return nil, rowstore.PathError(path, err)
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
// sqlitefile.OpenReaderAt does. It returns the errors of Open.
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
		return nil, rowstore.PathError(db.Path(), err)
	}
	return s, nil
}

// Version implements store.Store.
func (s *Store) Version() (version uint64, ok bool) { return s.db.Version() }

// admit checks that a database is a volume of a version that this package reads.
func admit(db *sqlitefile.DB) error {
	return db.View(context.Background(), func(tx *sqlitefile.Rx) error {
		if err := repair.AdmitHeader(tx); err != nil {
			return repair.Restored(tx, err)
		}
		if err := rowstore.CheckTables(tx); err != nil {
			return wayOut(tx, err)
		}
		return nil
	})
}

// wayOut returns the error of mustParse if the schema is damaged, and otherwise err.
func wayOut(tx *sqlitefile.Rx, err error) error {
	if found := repair.CheckSchemaText(tx); errors.Is(found, store.ErrDamaged) {
		return found
	}
	return err
}

// A reader is a read transaction.
type reader struct{ rowstore.Rx }

var _ store.PastReader = reader{}

// At implements store.PastReader.
func (r reader) At(name string) (store.Rx, error) { return history.RxOf(r.Engine, name) }

// Begin starts a read transaction. While this process has been reading anyway, it costs no system
// call.
func (s *Store) Begin(ctx context.Context) (store.Rx, error) {
	tx, err := s.db.BeginView(ctx)
	if err != nil {
		return nil, rowstore.Explain(err)
	}
	return reader{rowstore.Rx{Engine: tx}}, nil
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
		_ = history.Sweep(context.Background(), s.db, s.update) // of snapshots that a process removed in part; the next Close does
		_ = s.endClones(context.Background())
	}
	return rowstore.ExplainClose(s.db.Close())
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

// ownWriter is Info.WriterVersion of this engine, equal to SQLite 3.50.4's.
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
