package sqlitefile

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/osfile/crashfs"
	"github.com/foliofs/folio/internal/osfile/ordercheck"
)

const crashPath = "/dir/db"

// A crashCase is a database and how it is used.
type crashCase struct {
	wal        bool
	journal    JournalMode // where not wal
	durability Durability
	pageSize   int
	autoVacuum int   // as PRAGMA auto_vacuum has it
	spill      int64 // bytes of changed pages that a transaction keeps in memory; 0 for the default
	exclusive  bool
	tight      bool // the disk has little room
	run        func(l *crashLoad)
}

// late reports by how many transactions the state after a loss of power may lag behind what was
// acknowledged with d; -1 says by any number since what was secured.
func (c *crashCase) late(d Durability) int64 {
	switch {
	case d == DurabilityOff || d == DurabilityNormal && c.wal:
		return -1
	case !c.wal && c.journal == JournalDelete && d != DurabilityExtra:
		return 1 // nobody synced that the journal is gone
	}
	return 0
}

func (c *crashCase) options(sys osfile.System) *Options {
	return &Options{Durability: c.durability, JournalMode: c.journal, Exclusive: c.exclusive, BusyTimeout: 10 * time.Second, spillBytes: c.spill, system: sys}
}

// A crashLoad is a crashCase at work, and what must be true of its database at each moment.
type crashLoad struct {
	*crashCase
	t     *testing.T
	fs    *crashfs.FS
	sys   osfile.System // fs, with a write-order checker
	rng   *rand.Rand
	db    *DB
	steps int
	size  int // of the next transactions: how many changes they make at the most; 0 stands for 5, and less for none

	mu      sync.Mutex  // guards what follows
	state   *crashState // of the last transaction
	digests []uint64    // by version
	begun   []event
	acked   []event
	secured []event // on disk whatever the durability
}

// An event says that something holds for a version from an operation on.
type event struct {
	version int64
	at      int
}

// newCrashLoad makes the database and opens it.
func newCrashLoad(t *testing.T, c *crashCase, seed uint64) *crashLoad {
	t.Helper()
	l := &crashLoad{crashCase: c, t: t, fs: crashfs.New(), rng: rand.New(rand.NewPCG(seed, 1)), state: newCrashState()}
	if err := l.fs.WriteFile(crashPath, l.image()); err != nil {
		t.Fatal(err)
	}
	l.digests = append(l.digests, l.state.digest())
	l.fs = c.disk(l.fs.History().End().None()) // the history begins here
	l.sys = ordercheck.New(l.fs, c.durability == DurabilityOff, l.breach)
	l.open()
	return l
}

// image returns the bytes of the database that the load begins with.
func (l *crashLoad) image() []byte {
	l.t.Helper()
	if l.autoVacuum > 0 {
		return l.state.insert(l.t, l.pageSize, l.autoVacuum, l.wal)
	}
	return l.state.build(l.t, l.pageSize, l.wal)
}

func (l *crashLoad) open() {
	l.t.Helper()
	db, err := Open(crashPath, l.options(l.sys))
	if err != nil {
		l.t.Fatalf("%v\n%s", err, crashfs.Trace(l.fs.Ops(max(0, l.fs.Count()-40)), 0xffff))
	}
	l.db = db
}

// breach is called by the write-order checker.
func (l *crashLoad) breach(err error) { l.t.Error(err) }

func (l *crashLoad) close() {
	l.t.Helper()
	version := l.version()
	if err := l.db.Close(); err != nil {
		l.t.Fatalf("%v\n%s", err, crashfs.Trace(l.fs.Ops(max(0, l.fs.Count()-40)), 0xffff))
	}
	l.secure(version)
}

func (l *crashLoad) version() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state.version
}

// secure notes that a version is in the file of a database in WAL mode, and on disk.
func (l *crashLoad) secure(version int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.wal && l.durability != DurabilityOff {
		l.secured = append(l.secured, event{version, l.fs.Count()})
	}
}

// commit commits a transaction through db.
func (l *crashLoad) commit(db *DB) {
	l.t.Helper()
	var version int64
	err := db.Update(context.Background(), func(tx *Tx) error {
		l.mu.Lock() // for the transactions of other processes
		defer l.mu.Unlock()
		next := l.state.clone()
		if err := next.advance(tx, l.rng, l.changes()); err != nil {
			return err
		}
		l.state, version = next, next.version
		l.digests = append(l.digests, next.digest())
		l.begun = append(l.begun, event{version, l.fs.Count()})
		return nil
	})
	if err != nil {
		l.t.Errorf("commit: %v", err)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acked = append(l.acked, event{version, l.fs.Count()})
}

// changes returns how many changes the next transaction makes.
func (l *crashLoad) changes() int {
	if l.size < 0 {
		return 0
	}
	return 1 + l.rng.IntN(cmp.Or(l.size, 5))
}

var errRollback = errors.New("on purpose")

// rollback does the work of a transaction and gives it up.
func (l *crashLoad) rollback() {
	l.t.Helper()
	err := l.db.Update(context.Background(), func(tx *Tx) error {
		return dberr.Join(l.state.clone().advance(tx, l.rng, l.changes()), errRollback)
	})
	if !errors.Is(err, errRollback) {
		l.t.Fatalf("%v\n%s", err, crashfs.Trace(l.fs.Ops(max(0, l.fs.Count()-40)), 0xffff))
	}
}

func (l *crashLoad) checkpoint(mode CheckpointMode) {
	l.t.Helper()
	version := l.version()
	if err := l.db.Checkpoint(context.Background(), mode); err != nil {
		l.t.Fatalf("%v\n%s", err, crashfs.Trace(l.fs.Ops(max(0, l.fs.Count()-40)), 0xffff))
	}
	if mode != CheckpointPassive {
		l.secure(version)
	}
}

// read reads everything, so that caches and leases play their part.
func (l *crashLoad) read() {
	l.t.Helper()
	if err := l.db.View(context.Background(), l.same); err != nil {
		l.t.Fatalf("%v\n%s", err, crashfs.Trace(l.fs.Ops(max(0, l.fs.Count()-40)), 0xffff))
	}
}

func (l *crashLoad) same(rx *Rx) error {
	s, err := readCrashState(rx)
	if err == nil && s.digest() != l.state.digest() {
		err = errors.New("the database is not what was committed")
	}
	return err
}

// bounds returns the first and the last version that the database can have after a crash at an
// operation, when the processes died, or the power failed.
func (l *crashLoad) bounds(at int, power bool) (low, high int64) {
	low, high = last(l.acked, at), last(l.begun, at)
	switch late := l.late(l.durability); {
	case !power:
	case late < 0:
		low = last(l.secured, at)
	default:
		low = max(low-late, last(l.secured, at))
	}
	return low, high
}

func last(events []event, at int) (version int64) {
	for _, e := range events {
		if e.at <= at {
			version = max(version, e.version)
		}
	}
	return version
}
