package pager

import (
	"sync"
	"sync/atomic"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/lease"
	"github.com/foliofs/folio/internal/wal"
)

// A Snapshot is shared by all readers while the database does not change: they see the file, and
// the log, through it. It is immutable except for its caches.
type Snapshot struct {
	lease     *lease.Lease
	Version   uint64 // of the content
	Layout    uint64 // of the places of the pages: a slice of a page stays right in each snapshot with the same Layout
	size      int64  // of the file, in bytes
	Header    format.Header
	change    [16]byte // bytes 24 to 39 of the file: every commit in rollback mode changes them
	PageCount uint32   // in the database
	LockPage  uint32
	Mapped    []byte // the whole pages of the file, where every page is in the file as it should be; else empty
	PageShift uint8  // log2 of the page size
	Usable    int
	Spill     [2]format.Spill // of index and table leaf cells
	Cache     *pageCache
	Schema    *Schema

	wal    *wal.Log             // in WAL mode; else nil, as are the fields below
	words  format.WALIndexWords // the header of the wal-index that this snapshot is
	last   uint32               // the last frame of the log that belongs to it; 0 if the file has everything
	file   []byte               // the whole pages of the file, for pages that are not in the log
	frames *wal.FrameTable      // where the pages are in the log; nil if only the index knows
}

// Offsets of the header bytes that every writer changes, and that SQLite's pager compares.
const (
	changeStart = 24
	changeEnd   = 40
)

// enter counts the caller in as a reader if s is still the state of the database.
func (s *Snapshot) enter() bool {
	if !s.lease.Enter() {
		return false
	}
	return s.wal == nil || s.still()
}

// still reports whether the log is in the state that s is of. If not, or if its index is gone, the
// caller is no reader any more.
func (s *Snapshot) still() (same bool) {
	defer func() {
		if !same {
			s.lease.Leave()
		}
	}()
	return s.wal.Index.Same(&s.words) && (s.wal.Access == wal.AccessShared || s.wal.Undisturbed()) && s.atHome()
}

// atHome reports whether the file is for all that can be seen in its map the one that the log
// belongs to.
func (s *Snapshot) atHome() bool { return len(s.file) == 0 || s.wal.AtHome(s.file) }

// outdated returns the rest of a snapshot whose file is not the database's any more: nothing that
// could be taken for the state of another file, or read.
func (s *Snapshot) outdated() *Snapshot {
	return &Snapshot{lease: s.lease, Version: s.Version, size: -1, Header: s.Header, PageCount: s.PageCount, Schema: new(Schema)}
}

// reach lets the snapshot of a transaction see the spilled pages up to a frame; 0 for nothing. No
// table has these frames, whose numbers may have been used before: the log may have restarted for
// them, and frames that are taken back are overwritten.
func (s *Snapshot) reach(frame uint32) {
	if frame != 0 {
		s.last, s.frames = max(s.last, frame), nil
	}
}

// whole returns the whole pages of the file in the map.
func (s *Snapshot) whole() []byte {
	if s.wal == nil {
		return s.Mapped
	}
	return s.file
}

// Log returns the log that the snapshot is read from; nil in rollback mode.
func (s *Snapshot) Log() *wal.Log { return s.wal }

// LastFrame returns the last frame of the log that belongs to the snapshot; 0 if the file has
// everything.
func (s *Snapshot) LastFrame() uint32 { return s.last }

// A Schema is shared by the snapshots that have one schema cookie. The pager knows only which
// snapshots share it. The package above keeps its tables and indexes here.
type Schema struct {
	Known atomic.Value // nil before that package asks
	Mu    sync.Mutex   // that package's, while it reads the schema
}

// newSchema returns the schema of s: the old one if it has not changed.
func newSchema(s, old *Snapshot) *Schema {
	if old != nil && old.Header.SchemaCookie == s.Header.SchemaCookie && old.Header.Encoding == s.Header.Encoding {
		return old.Schema
	}
	return new(Schema)
}
