package sqlite

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/sqlitefile"
)

// An engine is an open file, or a database in memory. A process has one engine for a file, whatever
// paths the file was opened by: so connections share its caches, and their writers queue.
type engine struct {
	file  *sqlitefile.DB
	cache cache
	key   engineKey
	busy  time.Duration // BusyTimeout of file
	info  os.FileInfo   // of the file; nil for a database in memory
	users int           // DBs
}

// An engineKey separates engines of one file that cannot stand in for each other.
type engineKey struct {
	memory              string // name of a shared database in memory
	readOnly, immutable bool
}

// defaultBusyTimeout is how long a statement waits for locks of other processes, and for the end of
// one transaction of this process.
const defaultBusyTimeout = 5 * time.Second

// engines are the engines of the process.
var engines struct {
	mu   sync.Mutex
	list []*engine
}

// openEngine returns the engine of a file, and opens it unless it is open already.
func openEngine(path string, o *Options) (*engine, error) {
	engines.mu.Lock()
	defer engines.mu.Unlock()
	key := engineKey{readOnly: o.ReadOnly, immutable: o.Immutable}
	if isMemory(path) {
		key = engineKey{memory: o.shared}
		if e := findEngine(key, nil); e != nil && o.shared != "" {
			return e, nil
		}
		return addEngine(path, key, o)
	}
	if info, err := os.Stat(path); err == nil {
		if e := findEngine(key, info); e != nil && !e.file.Internal(private.Key{}).Replaced() {
			return e, nil
		}
	}
	return addEngine(path, key, o)
}

// isMemory reports whether a path names no file.
func isMemory(path string) bool { return path == "" || path == ":memory:" }

// findEngine returns an open engine, or nil.
func findEngine(key engineKey, info os.FileInfo) *engine {
	for _, e := range engines.list {
		same := e.key == key || key.readOnly && e.key == engineKey{} // that can be written and read
		if same && (info == nil) == (e.info == nil) && (info == nil || os.SameFile(info, e.info)) {
			e.users++
			return e
		}
	}
	return nil
}

// addEngine opens a file. The caller must hold the lock of the list.
func addEngine(path string, key engineKey, o *Options) (*engine, error) {
	lower := &sqlitefile.Options{
		ReadOnly: o.ReadOnly, Immutable: o.Immutable, Create: o.Create, BusyTimeout: max(o.BusyTimeout, 0),
		JournalMode: o.JournalMode, Durability: sqlitefile.DurabilityNormal, PageSize: o.PageSize,
	}
	e := &engine{key: key, users: 1, busy: cmp.Or(lower.BusyTimeout, defaultBusyTimeout)}
	var err error
	if isMemory(path) {
		lower.JournalMode = sqlitefile.JournalWAL // so that no writer waits for readers
		e.file, err = sqlitefile.OpenMemory(lower)
	} else if e.file, err = sqlitefile.Open(path, lower); errors.Is(err, sqlitefile.ErrNeedsRecovery) && !o.Immutable {
		lower.ReadOnly = false
		e.file, err = sqlitefile.Open(path, lower)
	}
	if err != nil {
		return nil, err
	}
	if err := e.initialize(); err != nil {
		return nil, errors.Join(err, e.file.Close())
	}
	if !isMemory(path) {
		if e.info, err = os.Stat(path); err != nil {
			return nil, errors.Join(err, e.file.Close())
		}
	}
	engines.list = append(engines.list, e)
	return e, nil
}

// initialize writes the header of a new database: the first transaction of one that has none would
// wait for its readers.
func (e *engine) initialize() error {
	if e.key != (engineKey{memory: e.key.memory}) {
		return nil
	}
	isNew := false
	err := e.file.View(context.Background(), func(rx *sqlitefile.Rx) error {
		info := rx.Info()
		isNew = info.PageCount == 1 && info.SchemaVersion == 0
		return nil
	})
	if err != nil || !isNew {
		return err
	}
	err = e.file.Update(context.Background(), func(tx *sqlitefile.Tx) error { return tx.SetUserVersion(tx.UserVersion()) })
	if errors.Is(err, sqlitefile.ErrReadOnly) || errors.Is(err, sqlitefile.ErrBusy) {
		return nil
	}
	return err
}

// close closes the file if no DB uses the engine any more.
func (e *engine) close() error {
	engines.mu.Lock()
	e.users--
	last := e.users == 0
	if last {
		engines.list = slices.DeleteFunc(engines.list, func(other *engine) bool { return other == e })
	}
	engines.mu.Unlock()
	if !last {
		return nil
	}
	return e.file.Close()
}
