// Package faultfs makes operations on files fail, for tests: the n-th of some kind, or every one
// from the n-th on, with a given error. It wraps any osfile.System. A failed operation has no
// effect, with two exceptions: a Partial read or write, and Close, which closes in any case.
package faultfs

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/foliofs/folio/internal/osfile"
)

// An Op is an operation of a System or a Handle. A set of them is their sum.
type Op uint32

// The operations.
const (
	Open Op = 1 << iota
	Exists
	Remove
	SyncDir
	Read
	Write
	Truncate
	Sync
	Size
	Moved
	Lock
	Unlock
	Locked
	Map
	MapWords
	Close
	Rename
	FreeSpace
	Preallocate
	Punch
	OpenDir // of SyncDir, before it syncs

	// Storage is all that moves bytes or names.
	Storage = Open | Exists | Remove | SyncDir | Read | Write | Truncate | Sync | Size | Moved | Rename
	// Any lists the operations that can fail on a working system in one way or another. Releasing a
	// lock or a handle cannot. OpenDir is apart: the engine goes on without syncing the names, so
	// that a loss of power may take more after it.
	Any = Storage | Lock | Locked | Map | MapWords | FreeSpace | Preallocate | Punch
)

var opNames = []string{
	"open", "stat", "remove", "sync", "read", "write", "truncate", "sync", "stat", "stat", "lock", "unlock", "lock", "mmap",
	"mmap", "close", "rename", "statfs", "allocate", "punch", "open",
}

// String returns the word that an error has for an operation.
func (op Op) String() string {
	for i, name := range opNames {
		if op == 1<<i {
			return name
		}
	}
	return "?"
}

// A Fault says which operations fail, and how.
type Fault struct {
	Ops     Op     // the operations that count; 0 stands for Any
	Suffix  string // of the names of the files that count; "" stands for all
	N       int    // the number of the operation that fails, counting the selected ones from 1; 0 for none
	Sticky  bool   // every one after it fails as well
	Err     error
	Partial bool   // a read or a write does half of its work before it fails
	Do      func() // is called when it happens; without an Err nothing fails then
	Lose    bool   // a Sync that fails loses the changes that it should have synced, if the wrapped System can
}

// A System lets operations on another System fail. It is safe for concurrent use.
type System struct {
	inner osfile.System

	mu    sync.Mutex // guards the fields below
	fault Fault
	seen  int
	hits  []string
}

// New returns a System on which nothing fails yet.
func New(inner osfile.System) *System { return &System{inner: inner} }

// Arm sets the fault, and starts the count again at 0. The zero Fault ends it, and lets all
// operations count.
func (s *System) Arm(f Fault) {
	if f.Ops == 0 {
		f.Ops = Any
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault, s.seen, s.hits = f, 0, nil
}

// Heal ends the fault. The counts stay.
func (s *System) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = Fault{}
}

// Seen returns how many operations counted since Arm.
func (s *System) Seen() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

// Hits returns the operations that failed since Arm.
func (s *System) Hits() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hits[:len(s.hits):len(s.hits)]
}

// hit counts an operation, and returns the fault if it must fail.
func (s *System) hit(op Op, name string) (f Fault, failed bool) {
	f, failed = s.count(op, name)
	if f.Do != nil {
		f.Do()
	}
	return f, failed && f.Err != nil
}

func (s *System) count(op Op, name string) (f Fault, failed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault.Ops&op == 0 || !strings.HasSuffix(name, s.fault.Suffix) {
		return f, false
	}
	s.seen++
	if s.fault.N == 0 || s.seen < s.fault.N || s.seen > s.fault.N && !s.fault.Sticky {
		return f, false
	}
	s.hits = append(s.hits, op.String()+" "+path.Base(name))
	return s.fault, true
}

// check returns the error of an operation that must fail.
func (s *System) check(op Op, name string) error {
	f, failed := s.hit(op, name)
	if !failed {
		return nil
	}
	return &fs.PathError{Op: op.String(), Path: name, Err: f.Err}
}

// Open implements osfile.System.
func (s *System) Open(name string, flag int, perm fs.FileMode) (osfile.Handle, error) {
	return s.open(name, func() (osfile.Handle, error) { return s.inner.Open(name, flag, perm) })
}

// OpenSide implements osfile.System.
func (s *System) OpenSide(db osfile.Handle, suffix string, flag int) (osfile.Handle, error) {
	return s.open(db.Name()+suffix, func() (osfile.Handle, error) { return s.inner.OpenSide(db, suffix, flag) })
}

func (s *System) open(name string, do func() (osfile.Handle, error)) (osfile.Handle, error) {
	if err := s.check(Open, name); err != nil {
		return nil, err
	}
	h, err := do()
	if err != nil {
		return nil, err
	}
	return &handle{Handle: h, s: s}, nil
}

// SideExists implements osfile.System.
func (s *System) SideExists(db osfile.Handle, suffix string) (int64, bool, error) {
	if err := s.check(Exists, db.Name()+suffix); err != nil {
		return 0, false, err
	}
	return s.inner.SideExists(db, suffix)
}

// Exists implements osfile.System.
func (s *System) Exists(name string) (int64, bool, error) {
	if err := s.check(Exists, name); err != nil {
		return 0, false, err
	}
	return s.inner.Exists(name)
}

// Remove implements osfile.System.
func (s *System) Remove(name string) error {
	if err := s.check(Remove, name); err != nil {
		return err
	}
	return s.inner.Remove(name)
}

// Rename implements osfile.System. A fault matches it by the name that the file has at first.
func (s *System) Rename(from, to string) error {
	if err := s.check(Rename, from); err != nil {
		return err
	}
	return s.inner.Rename(from, to)
}

// SyncDir implements osfile.System.
func (s *System) SyncDir(name string) error {
	if f, failed := s.hit(OpenDir, path.Dir(name)); failed {
		return &fs.PathError{Op: "open", Path: path.Dir(name), Err: notOpenedError{f.Err}}
	}
	if err := s.check(SyncDir, name); err != nil {
		return err
	}
	return s.inner.SyncDir(name)
}

// A notOpenedError is the fault of an OpenDir.
type notOpenedError struct{ error }

func (e notOpenedError) Is(target error) bool { return target == osfile.ErrNotOpened }

func (e notOpenedError) Unwrap() error { return e.error }

// A handle lets operations on another Handle fail.
type handle struct {
	osfile.Handle
	s *System
}

func (h *handle) check(op Op) error { return h.s.check(op, h.Name()) }

func (h *handle) ReadAt(p []byte, off int64) (int, error) {
	return h.transfer(Read, h.Handle.ReadAt, p, off)
}

func (h *handle) WriteAt(p []byte, off int64) (int, error) {
	return h.transfer(Write, h.Handle.WriteAt, p, off)
}

func (h *handle) transfer(op Op, do func([]byte, int64) (int, error), p []byte, off int64) (n int, err error) {
	f, failed := h.s.hit(op, h.Name())
	if !failed {
		return do(p, off)
	}
	if f.Partial {
		n, _ = do(p[:len(p)/2], off)
	}
	return n, &fs.PathError{Op: op.String(), Path: h.Name(), Err: f.Err}
}

func (h *handle) Truncate(size int64) error {
	if err := h.check(Truncate); err != nil {
		return err
	}
	return h.Handle.Truncate(size)
}

func (h *handle) Sync() error {
	f, failed := h.s.hit(Sync, h.Name())
	if !failed {
		return h.Handle.Sync()
	}
	if loser, ok := h.Handle.(interface{ LoseSync(err error) error }); ok && f.Lose {
		return loser.LoseSync(f.Err)
	}
	return &fs.PathError{Op: "sync", Path: h.Name(), Err: f.Err}
}

func (h *handle) Size() (int64, error) {
	if err := h.check(Size); err != nil {
		return 0, err
	}
	return h.Handle.Size()
}

func (h *handle) Moved() (bool, error) {
	if err := h.check(Moved); err != nil {
		return false, err
	}
	return h.Handle.Moved()
}

func (h *handle) Lock(kind osfile.LockKind, off, n int64) error {
	if err := h.check(Lock); err != nil {
		return err
	}
	return h.Handle.Lock(kind, off, n)
}

func (h *handle) Unlock(off, n int64) error {
	if err := h.check(Unlock); err != nil {
		return err
	}
	return h.Handle.Unlock(off, n)
}

func (h *handle) Locked(kind osfile.LockKind, off, n int64) (bool, error) {
	if err := h.check(Locked); err != nil {
		return false, err
	}
	return h.Handle.Locked(kind, off, n)
}

func (h *handle) Map(n int64) (*osfile.Mapping, error) {
	if err := h.check(Map); err != nil {
		return nil, err
	}
	return h.Handle.Map(n)
}

func (h *handle) MapWords(off, n int64) (*osfile.Words, error) {
	if err := h.check(MapWords); err != nil {
		return nil, err
	}
	return h.Handle.MapWords(off, n)
}

func (h *handle) Close() error {
	err := h.check(Close)
	return errors.Join(err, h.Handle.Close())
}
