package sqlitefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strconv"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// A snapshot is what all readers share while the database does not change: they see the file through it. It is
// immutable but for what it caches.
type snapshot struct {
	version  uint64
	size     int64 // of the file, in bytes
	header   format.Header
	change   [16]byte // bytes 24 to 39 of the file: whoever writes changes them
	pages    uint32   // in the database
	lockPage uint32
	mapped   []byte // the whole pages of the file; empty in plain mode
	shift    uint8  // log2 of the page size
	usable   int
	spill    [2]format.Spill // of index and table leaf cells
	cache    *pageCache
	schema   *schema
}

// Offsets in the header of what a writer changes, as SQLite's pager compares it.
const (
	changeStart = 24
	changeEnd   = 40
)

// refresh brings db.snapshot up to date. The caller has just taken SHARED and holds lease.mu; there is no reader.
func (db *DB) refresh() error {
	if err := db.refuseJournal(); err != nil {
		return err
	}
	if err := db.refuseLog(); err != nil {
		return err
	}
	size, err := db.file.Size()
	if err != nil {
		return err
	}
	var b [format.HeaderSize]byte
	if n, err := db.file.ReadAt(b[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	} else if n < len(b) {
		return db.pathError("open", notDatabase(size))
	}
	old := db.snapshot.Load() // in WAL mode a commit need not touch the header
	if old != nil && !old.inWALMode() && old.size == size && string(old.change[:]) == string(b[changeStart:changeEnd]) {
		return nil
	}
	next, err := db.newSnapshot(old, b[:], size)
	if err != nil {
		return err
	}
	db.snapshot.Store(next)
	return nil
}

func notDatabase(size int64) error {
	if size == 0 {
		return fmt.Errorf("%w: it is empty", ErrNotDatabase)
	}
	return fmt.Errorf("%w: it has only %d bytes", ErrNotDatabase, size)
}

// refuseJournal returns ErrNeedsRecovery if a hot journal lies beside the database. Another process may begin and end a transaction
// while we look, and then look like one that died, but not every time.
func (db *DB) refuseJournal() error {
	for range 4 {
		if hot, err := db.journalHot(); err != nil || !hot {
			return err
		}
	}
	return db.pathError("open", ErrNeedsRecovery)
}

// journalHot reports whether a journal has content while nobody holds RESERVED and so nobody is busy with it, neither before
// nor after it was looked at.
func (db *DB) journalHot() (bool, error) {
	name := db.file.Name() + "-journal"
	size, ok, err := osfile.Exists(name)
	if err != nil || !ok || size == 0 {
		return false, err
	}
	if reserved, err := db.reserved(); err != nil || reserved {
		return false, err
	}
	var first [1]byte
	n, err := osfile.ReadFirst(name, first[:])
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || n == 0 || first[0] == 0 {
		return false, err
	}
	reserved, err := db.reserved()
	return !reserved, err
}

// reserved reports whether some connection holds RESERVED: it writes, or is about to.
func (db *DB) reserved() (bool, error) { return db.file.Locked(osfile.Shared, pendingByte+1, 1) }

// refuseLog returns ErrWAL if a write-ahead log lies beside the database: its frames, or those that a writer may add to
// it any moment, are newer than the file.
func (db *DB) refuseLog() error {
	_, ok, err := osfile.Exists(db.file.Name() + "-wal")
	if err != nil || !ok {
		return err
	}
	return db.pathError("open", ErrWAL)
}

// inWALMode reports whether writers of the database use a write-ahead log: they do not wait for our SHARED lock.
func (s *snapshot) inWALMode() bool { return s.header.ReadVersion == format.VersionWAL }

func (db *DB) newSnapshot(old *snapshot, b []byte, size int64) (*snapshot, error) {
	h, what := format.ParseHeader(b)
	if what != "" {
		return nil, db.pathError("open", fmt.Errorf("%w: %s", ErrNotDatabase, what))
	}
	if h.ReadVersion > format.VersionWAL {
		return nil, db.pathError("open", fmt.Errorf("%w: file format version %d", ErrUnsupported, h.ReadVersion))
	}
	s := &snapshot{
		version:  1,
		size:     size,
		header:   h,
		change:   [16]byte(b[changeStart:changeEnd]),
		lockPage: h.LockPage(),
		usable:   h.Usable(),
		cache:    new(pageCache),
	}
	for 1<<s.shift < h.PageSize {
		s.shift++
	}
	s.spill = [2]format.Spill{format.SpillOf(format.LeafIndex, s.usable), format.SpillOf(format.LeafTable, s.usable)}
	if err := db.measure(s, size); err != nil {
		return nil, err
	}
	if old != nil {
		s.version = old.version + 1
	}
	s.schema = newSchema(s, old)
	return s, db.mapFile(s, size)
}

// measure fills in the number of pages. The header knows it, unless an old version of SQLite wrote last; a file with
// fewer pages than that is corrupt.
func (db *DB) measure(s *snapshot, size int64) error {
	inFile := (size + int64(s.header.PageSize) - 1) >> s.shift
	s.pages = s.header.PageCount
	if s.pages == 0 {
		s.pages = uint32(min(inFile, format.MaxPage))
	}
	if int64(s.pages) > inFile {
		rx := Rx{db: db}
		return rx.corrupt(0, "the file is cut off: it has "+strconv.FormatInt(inFile, 10)+" of "+strconv.FormatUint(uint64(s.pages), 10)+" pages")
	}
	return nil
}

// reserve is how much address space a map takes at the least, so that a database can grow without a new map. Memory is
// taken only for what is read.
const reserve = 1 << 30

// mapFile lets s.mapped show the file's whole pages, through the map at hand if it is long enough. There is no
// reader, so the old one can go.
func (db *DB) mapFile(s *snapshot, size int64) error {
	whole := min(size>>s.shift, int64(s.pages)) << s.shift
	if db.options.Plain || whole > math.MaxInt/4 {
		return nil
	}
	if db.mapping == nil || int64(len(db.mapping.Bytes())) < whole {
		if err := db.remap(max(2*whole, reserve), whole); err != nil {
			return err
		}
	}
	if db.mapping != nil {
		s.mapped = db.mapping.Bytes()[:whole:whole]
	}
	return nil
}

// remap maps n bytes or, where there is no address space for as much, least bytes; where there is none for those
// either, or the system has no maps, the database is read without one.
func (db *DB) remap(n, least int64) error {
	if db.mapping != nil {
		if err := db.mapping.Unmap(); err != nil {
			return err
		}
		db.mapping = nil
	}
	for _, n := range []int64{n, least} {
		if m, err := db.file.Map(n); err == nil {
			db.mapping = m
			return nil
		}
	}
	return nil
}
