// Package ordercheck watches the operations on the files of SQLite databases, for tests, and
// reports each write that breaks the order that keeps a database safe from a crash. It wraps any
// osfile.System. It treats all writers alike: a commit, a checkpoint, a rollback or a recovery.
//
// # Rules
//
//	R0  The rules hold for a database whose name is synced: before that, a crash may remove the
//	    whole database.
//	R1  Writes to a database are whole pages.
//	R2  Without a log, a page of the database is overwritten or cut off only if the journal, as it
//	    was synced, has its image and will be played back, and the journal's name is synced; or if
//	    it was a leaf of the freelist.
//	R3  A journal is removed, cut off, or its header overwritten only while the database is synced.
//	R4  With a log that has frames, a page of the database is written only with the content of a
//	    committed frame of the synced log, and the log's name is synced. A page that belongs to the
//	    database is cut off only if the log has such a frame of it.
//	R5  A log with committed frames is restarted, cut off or removed only once the database has the
//	    last version of each page, and is synced.
//	R6  A committed frame is not overwritten unless the log restarts, and no frame is written after
//	    the header of a log before that is synced.
//	R7  A file takes the name of a database only when it is synced, there is no part of a journal or
//	    a log next to that name, and this is synced. Neither the new file is written to, nor the old
//	    one, before the name is synced.
//	R8  A page of the database is punched only while the database is synced, no log has frames, no
//	    journal would be played back or may come back, and the page is a leaf of the freelist: so it
//	    is one after each crash.
//
// If nothing is ever synced (durability Off) the rules hold for files as they are written.
//
// # Limits
//
// All code that writes to a database must do so through the same System. The content of a file when
// it is first opened counts as not synced, except the header of a log; its name counts as synced.
package ordercheck

import (
	"bytes"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// A System watches another System. It is safe for concurrent use.
type System struct {
	inner  osfile.System
	report func(error)
	lazy   bool

	mu       sync.Mutex // guards the fields below, and is held during operations that change something
	files    map[string]*file
	removed  map[string]bool // names of journals and logs that may come back
	replaced []*file         // that had the name of a database, and may get it back
}

// A Breach is an operation that breaks a rule.
type Breach struct {
	Rule int    // its number
	Name string // of the file
	What string
}

func (b *Breach) Error() string { return fmt.Sprintf("%s: R%d: %s", b.Name, b.Rule, b.What) }

var _ osfile.System = (*System)(nil)

// New returns a System that calls report with each *Breach. Lazy says that nothing is synced.
func New(inner osfile.System, lazy bool, report func(error)) *System {
	return &System{inner: inner, lazy: lazy, report: report, files: make(map[string]*file), removed: make(map[string]bool)}
}

// A role is the purpose of a file for a database.
type role int

const (
	database role = iota
	journal
	log
	index
	draft // that takes the place of the database
)

var suffixes = map[role]string{journal: "-journal", log: "-wal", index: "-shm", draft: "-compact"}

// roleOf returns the role of a file, and the name of the database.
func roleOf(name string) (role, string) {
	for r, suffix := range suffixes {
		if base, ok := strings.CutSuffix(name, suffix); ok {
			return r, base
		}
	}
	return database, name
}

// A file is the known state of a file that was opened. The System's mu guards it.
type file struct {
	name    string
	role    role
	base    string          // the name of the database
	handles []osfile.Handle // the open ones

	content []byte // of a journal or a log
	synced  []byte // the content at the last Sync; replaced, never changed
	dirty   bool   // written to since
	named   bool   // the name is synced

	tookName   bool // it took the name of another file, and the directory was not synced since
	lostName   bool // another file took its name
	lossSynced bool // lostName, and the directory was synced since

	leaves map[uint32]bool // of the freelist of the database when the journal was made
	frames *frames         // of a log: the frames in synced, nil if they must be read
}

// Open implements osfile.System.
func (s *System) Open(name string, flag int, perm fs.FileMode) (osfile.Handle, error) {
	return s.watch(name, func() (osfile.Handle, error) { return s.inner.Open(name, flag, perm) })
}

// OpenSide implements osfile.System.
func (s *System) OpenSide(db osfile.Handle, suffix string, flag int) (osfile.Handle, error) {
	return s.watch(db.Name()+suffix, func() (osfile.Handle, error) { return s.inner.OpenSide(db, suffix, flag) })
}

// watch opens a file and follows the operations on it.
func (s *System) watch(name string, open func() (osfile.Handle, error)) (osfile.Handle, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, there, err := s.inner.Exists(name)
	if err != nil {
		return nil, err
	}
	h, err := open()
	if err != nil {
		return nil, err
	}
	f := s.files[h.Name()]
	if f == nil {
		f = &file{name: h.Name(), named: there}
		f.role, f.base = roleOf(h.Name())
		s.files[h.Name()] = f
		if err := s.first(f, h); err != nil {
			_ = h.Close()
			return nil, err
		}
	}
	f.handles = append(f.handles, h)
	return &handle{Handle: h, s: s, f: f}, nil
}

// first looks at a file that is opened for the first time.
func (s *System) first(f *file, h osfile.Handle) (err error) {
	switch f.role {
	case journal:
		f.content, err = contentOf(h)
	case log:
		f.content, err = contentOf(h)
		f.synced = bytes.Clone(f.content[:min(len(f.content), format.WALHeaderSize)])
	}
	if db := s.open(f.base); f.role == journal && db != nil && err == nil {
		f.leaves = freeLeaves(db)
	}
	return err
}

// open returns a handle to read a file by; nil if none is open.
func (s *System) open(name string) osfile.Handle {
	f := s.files[name]
	if f == nil || len(f.handles) == 0 {
		return nil
	}
	return f.handles[0]
}

func contentOf(h osfile.Handle) ([]byte, error) {
	size, err := h.Size()
	if err != nil {
		return nil, err
	}
	b := make([]byte, size)
	_, err = h.ReadAt(b, 0)
	return b, err
}

// SideExists implements osfile.System.
func (s *System) SideExists(db osfile.Handle, suffix string) (int64, bool, error) {
	return s.inner.SideExists(db, suffix)
}

// Exists implements osfile.System.
func (s *System) Exists(name string) (int64, bool, error) { return s.inner.Exists(name) }

// Remove implements osfile.System.
func (s *System) Remove(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[name]
	if f != nil {
		s.checkEnd(f, "is removed")
	}
	err := s.inner.Remove(name)
	if err == nil {
		delete(s.files, name)
		if r, _ := roleOf(name); r == journal || r == log {
			s.removed[name] = true
		}
	}
	return err
}

// Rename implements osfile.System.
func (s *System) Rename(from, to string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, victim := s.files[from], s.files[to]
	if f != nil && victim != nil && victim.role == database {
		s.checkExchange(f, victim)
	}
	if err := s.inner.Rename(from, to); err != nil {
		return err
	}
	delete(s.files, from)
	delete(s.files, to)
	if f != nil {
		f.name = to
		f.role, f.base = roleOf(to)
		s.files[to] = f
	}
	if f != nil && victim != nil {
		f.tookName, f.named = !s.lazy, victim.named
		victim.lostName, victim.lossSynced = true, s.lazy
		s.replaced = append(s.replaced, victim)
	}
	return nil
}

// checkExchange looks at a file that is about to take the name of a database (R7).
func (s *System) checkExchange(f, old *file) {
	if !s.settled(f) {
		s.breach(old, 7, "is replaced by a file that is not synced")
	}
	for _, r := range []role{journal, log} {
		name := old.base + suffixes[r]
		if s.removed[name] && !s.lazy {
			s.breach(old, 7, "is replaced before it is synced that %s is gone", name)
		}
		if c := s.files[name]; c != nil && len(c.content) > 0 {
			s.breach(old, 7, "is replaced while there is %s", name)
		}
	}
}

// checkReplacing looks at a write to a database around the time when another file takes its name
// (R7), and reports whether that is all that there is to say.
func (s *System) checkReplacing(f *file) bool {
	switch {
	case f.lostName && !f.lossSynced:
		s.breach(f, 7, "is changed before the name of the file in its place is synced")
	case f.tookName:
		s.breach(f, 7, "is changed before its name is synced")
	}
	return f.lostName
}

// SyncDir implements osfile.System.
func (s *System) SyncDir(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.inner.SyncDir(name)
	if err != nil {
		return err
	}
	for _, f := range s.files {
		if filepath.Dir(f.name) == filepath.Dir(name) {
			f.named, f.tookName = true, false
		}
	}
	for _, f := range s.replaced {
		f.lossSynced = true
	}
	s.replaced = nil
	clear(s.removed)
	return nil
}

func (s *System) breach(f *file, rule int, format string, args ...any) {
	s.report(&Breach{Rule: rule, Name: f.name, What: fmt.Sprintf(format, args...)})
}

// stable returns the content of a journal or a log that a crash cannot take away.
func (s *System) stable(f *file) []byte {
	if s.lazy {
		return f.content
	}
	return f.synced
}

// settled reports whether everything that was written to f would survive a crash.
func (s *System) settled(f *file) bool { return s.lazy || f == nil || !f.dirty }
