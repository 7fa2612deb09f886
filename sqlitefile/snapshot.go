package sqlitefile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// A snapshot is what readers share while the database does not change: they see the file, and the log, through it. It is
// immutable but for what it caches.
type snapshot struct {
	lease    *lease
	version  uint64 // of the content
	layout   uint64 // of where the pages lie: slices of them are as good in any other snapshot with the same
	size     int64  // of the file, in bytes
	header   format.Header
	change   [16]byte // bytes 24 to 39 of the file: whoever writes in rollback mode changes them
	pages    uint32   // in the database
	lockPage uint32
	mapped   []byte // the whole pages of the file, where every page is in the file as it should be; else empty
	shift    uint8  // log2 of the page size
	usable   int
	spill    [2]format.Spill // of index and table leaf cells
	cache    *pageCache
	schema   *schema

	wal    *wal                 // in WAL mode; else nil, as is what follows
	words  format.WALIndexWords // the header of the wal-index that this snapshot is
	last   uint32               // the last frame of the log that belongs to it; 0 if the file has everything
	file   []byte               // the whole pages of the file, for what is not in the log
	frames *frameTable          // where the pages are in the log; nil if only the index knows
}

// Offsets in the header of what a writer changes, as SQLite's pager compares it.
const (
	changeStart = 24
	changeEnd   = 40
)

// enter counts the caller in as a reader if s is still what the database is.
func (s *snapshot) enter() bool {
	if !s.lease.enter() {
		return false
	}
	return s.wal == nil || s.still()
}

// still reports whether the log is in the state that s is of. If not, or if its index is gone, the caller is no reader any more.
func (s *snapshot) still() (same bool) {
	defer func() {
		if !same {
			s.lease.leave()
		}
	}()
	return s.wal.index.same(&s.words) && (s.wal.access == logShared || s.wal.undisturbed())
}

// outdated returns what is left of a snapshot once its file is not that of the database any more: nothing that could be taken for
// the state of another file, or read.
func (s *snapshot) outdated() *snapshot {
	return &snapshot{lease: s.lease, version: s.version, size: -1, header: s.header, pages: s.pages, schema: new(schema)}
}

// tryAcquire returns a snapshot that the caller is a reader of. ErrLocked means to try again.
func (db *DB) tryAcquire() (*snapshot, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	switch {
	case db.closed:
		return nil, db.pathError("view", ErrClosed)
	case db.lost != nil:
		return nil, db.lost
	case db.frozen:
		return nil, errOurselves
	}
	if s := db.snapshot.Load(); s != nil && s.enter() { // somebody else was faster
		return s, nil
	}
	if db.wal == nil {
		s, err := db.acquireFile()
		if db.wal == nil {
			return s, err
		}
	}
	return db.acquireLog()
}

// acquireFile takes SHARED and makes a snapshot of the file in rollback mode. If the database turns out to be in WAL mode, it opens the log and
// keeps SHARED for as long as that is open. The caller holds mu.
func (db *DB) acquireFile() (*snapshot, error) {
	if l := db.fileLease; l != nil {
		if !l.unused() {
			return nil, errOurReaders // it is draining
		}
		if err := db.unlockShared(); err != nil { // what its end would do this moment
			return nil, err
		}
		db.fileLease = nil
	}
	if err := db.lockShared(); err != nil {
		return nil, err
	}
	s, err := db.look()
	if err != nil {
		return nil, join(err, db.unlockShared())
	}
	if db.wal != nil {
		return nil, nil
	}
	db.leaseFile(s)
	return s, nil
}

// leaseFile lends SHARED to the readers of s, the first of whom is the caller. It holds mu.
func (db *DB) leaseFile(s *snapshot) {
	l := newLease(0, nil)
	l.drop = func() { db.dropShared(l) }
	db.busy.Add(1)
	db.tally.add(l, db.busy.Done)
	s.lease, db.fileLease = l, l
	db.snapshot.Store(s)
	go l.keep(db.obstructs())
}

// dropShared ends l, and with it SHARED, unless that has passed on to another lease.
func (db *DB) dropShared(l *lease) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.fileLease != l {
		return
	}
	_ = db.unlockShared() // fails only with the file
	db.fileLease = nil
}

// look reads the file's header under SHARED and returns a snapshot, or opens the log.
func (db *DB) look() (*snapshot, error) {
	hot, err := db.hot()
	if err == nil && hot {
		err = db.recoverFile()
	}
	if err != nil {
		return nil, err
	}
	return db.lookAtFile(true)
}

// lookAtFile is look where no journal can be hot. If logs, it opens the log of a database that turns out to be in WAL mode.
func (db *DB) lookAtFile(logs bool) (*snapshot, error) {
	size, err := db.file.Size()
	if err != nil {
		return nil, err
	}
	old := db.snapshot.Load()
	if size == 0 {
		return db.emptySnapshot(old)
	}
	var b [format.HeaderSize]byte
	if n, err := db.file.ReadAt(b[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	} else if n < len(b) {
		return nil, db.pathError("open", notDatabase(size))
	}
	if logs {
		if wal, err := db.wantsLog(&b); wal || err != nil {
			if err == nil {
				err = db.openLog(&b)
			}
			return nil, err
		}
	}
	if old != nil && old.wal == nil && old.size == size && string(old.change[:]) == string(b[changeStart:changeEnd]) {
		same := *old
		return &same, nil
	}
	return db.newSnapshot(old, b[:], size)
}

func notDatabase(size int64) error {
	if size == 0 {
		return fmt.Errorf("%w: it is empty", ErrNotDatabase)
	}
	return fmt.Errorf("%w: it has only %d bytes", ErrNotDatabase, size)
}

// wantsLog reports whether the database is in WAL mode: its header says so, or a log lies beside it.
func (db *DB) wantsLog(b *[format.HeaderSize]byte) (bool, error) {
	if b[19] == format.VersionWAL {
		return true, nil
	}
	_, ok, err := db.options.system.SideExists(db.file, "-wal")
	return ok, err
}

// openLog opens the log. The caller holds SHARED and mu.
func (db *DB) openLog(b *[format.HeaderSize]byte) (err error) {
	h, what := format.ParseHeader(b[:])
	size := h.PageSize
	if what != "" { // a checkpoint that was cut off may have left garbage; then the log has page 1
		if size, err = db.loggedPageSize(); err != nil || size == 0 {
			return cmp.Or(err, db.pathError("open", fmt.Errorf("%w: %s", ErrNotDatabase, what)))
		}
	}
	log, err := db.openWAL(size)
	if db.lendAlone(err) {
		log, err = db.openWAL(size)
	}
	if err != nil {
		return err
	}
	log.synced = db.options.Durability <= Extra
	log.named.Store(db.options.Durability == Off)
	log.failed, log.recovered, log.lend = db.fail, db.traceRecovery, db.lendRoom
	db.wal = log
	return nil
}

// openWAL opens the log for writing or, where the system does not allow that, for reading.
func (db *DB) openWAL(pageSize int) (*wal, error) {
	denied := db.denied
	if denied == nil {
		log, err := openWAL(db.options.system, db.file, pageSize, db.options.Plain, db.sole)
		if err == nil || db.sole || !osfile.Unwritable(err) {
			return log, err
		}
		denied = err
	}
	return db.openReadOnlyWAL(pageSize, denied)
}

// loggedPageSize returns the page size that the log has, or 0 if there is none.
func (db *DB) loggedPageSize() (int, error) {
	f, err := db.options.system.OpenSide(db.file, "-wal", osfile.ReadOnly)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var b [format.WALHeaderSize]byte
	_, err = f.ReadAt(b[:], 0)
	h, ok := format.ParseWALHeader(b[:])
	if !ok {
		h.PageSize = 0
	}
	return h.PageSize, join(ignoreEOF(err), f.Close())
}

// acquireLog takes a read lock of the log and makes a snapshot of what the log says now. Others hold what stands in the way for a moment,
// in which they call nobody, unless one of them recovers the log: only that is worth an ErrLocked. The caller holds mu.
func (db *DB) acquireLog() (*snapshot, error) {
	locked := osfile.ErrLocked
	for range 100 {
		s, err := db.tryLog()
		switch {
		case errors.Is(err, osfile.ErrLocked):
			locked = err
		case !errors.Is(err, errChanged):
			return s, err
		}
	}
	return nil, locked
}

func (db *DB) tryLog() (*snapshot, error) {
	if err := db.renewLog(); err != nil {
		return nil, err
	}
	h, err := db.wal.state()
	if err != nil {
		return nil, err
	}
	words := h.Words()
	old := db.snapshot.Load()
	l, err := db.leaseFor(old, &h, &words)
	if err != nil {
		return nil, err
	}
	var s *snapshot
	err = guard(func() error {
		s, err = db.newLogSnapshot(old, &h, &words, l.whole)
		if err = db.wal.observer.unlessChanged(err); err == ErrChanged {
			err = errChanged
		}
		return err
	})
	if err != nil {
		l.leave()
		return nil, err
	}
	s.lease = l
	db.snapshot.Store(s)
	return s, nil
}

// advance returns the snapshot after a commit to base of this writer that h describes, with the caller as a reader. Where the lease of base goes on
// it is base with what the commit has changed.
func (db *DB) advance(base *snapshot, h *format.WALIndexHeader, pages []framePage) (*snapshot, error) {
	if base.lease.slot == 0 || !base.lease.enter() {
		return db.republish()
	}
	both := &struct { // in one piece of memory
		snapshot
		pageCache
	}{snapshot: *base}
	next := &both.snapshot
	next.version, next.words, next.last, next.pages = db.versions.Add(1), h.Words(), h.MaxFrame, h.PageCount
	next.layout = next.version
	next.mapped, next.cache = nil, &both.pageCache
	if pages[0].pgno == 1 {
		next.header, _ = format.ParseHeader(pages[0].data)
		next.schema = newSchema(next, base)
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	next.frames = next.wal.frameTable(h)
	db.snapshot.Store(next)
	return next, nil
}

// leaseFor returns a lease under which the state h can be read, with the caller counted in: that of the last snapshot, if
// its mark keeps the log from beginning anew, or a new one.
func (db *DB) leaseFor(old *snapshot, h *format.WALIndexHeader, words *format.WALIndexWords) (*lease, error) {
	if old != nil && old.wal != nil {
		if old.lease.slot > 0 && db.wal.index.backfill() != h.MaxFrame && old.lease.enter() {
			return old.lease, nil
		}
		old.lease.retire()
	}
	w := db.wal
	slot, whole, err := w.readLock(h, words)
	if err != nil {
		return nil, err
	}
	l := newLease(slot, func() { w.unlockRead(slot) })
	l.whole = whole
	db.busy.Add(1)
	db.tally.add(l, db.busy.Done)
	mark := h.MaxFrame
	go l.keep(func() bool { return w.movedOn(mark) || w.inTheWay(l, mark) })
	return l, nil
}

// movedOn reports whether the log has frames behind mark: readers that stay at it keep a checkpoint from copying those.
func (w *wal) movedOn(mark uint32) bool {
	on := false
	err := guard(func() error {
		h, ok, err := w.index.load()
		on = !ok || h.MaxFrame != mark || mark != 0 && w.index.backfill() == mark
		return err
	})
	return on || err != nil
}

// newLogSnapshot makes the snapshot of state h of the log. whole says that the file alone has everything.
func (db *DB) newLogSnapshot(old *snapshot, h *format.WALIndexHeader, words *format.WALIndexWords, whole bool) (*snapshot, error) {
	size, err := db.file.Size()
	if err != nil {
		return nil, err
	}
	last := h.MaxFrame
	if whole {
		last = 0
	}
	b, err := db.firstPage(last)
	if err != nil {
		return nil, err
	}
	s, err := db.newSnapshot(old, b, size)
	if err != nil {
		return nil, err
	}
	s.wal, s.words, s.last, s.file, s.frames = db.wal, *words, last, s.mapped, db.wal.frameTable(h)
	same := old != nil && old.wal == db.wal && old.words == *words
	if h.MaxFrame == 0 && !(same && db.wal.frozen()) {
		return s, db.measure(s, size)
	}
	if same { // no transaction has written since: the checksums of the log are in there
		s.version, s.cache = old.version, old.cache
		if old.last == last { // else what was read in the log is to be read in the file from now on, or the other way round
			s.layout = old.layout
		}
	}
	if h.MaxFrame == 0 {
		return s, db.measure(s, size)
	}
	if s.pages = h.PageCount; last != 0 {
		s.mapped = nil
	}
	return s, nil
}

// firstPage returns the header as it is in the log up to frame last, or else in the file.
func (db *DB) firstPage(last uint32) ([]byte, error) {
	frame, err := db.wal.index.find(1, last)
	if err != nil {
		return nil, err
	}
	if frame != 0 {
		return db.wal.page(frame)
	}
	b := make([]byte, format.HeaderSize)
	_, err = db.file.ReadAt(b, 0)
	return b, cutOff(db.path, err)
}

func (db *DB) newSnapshot(old *snapshot, b []byte, size int64) (*snapshot, error) {
	h, what := format.ParseHeader(b)
	if what != "" {
		return nil, db.pathError("open", fmt.Errorf("%w: %s", ErrNotDatabase, what))
	}
	if h.ReadVersion > format.VersionWAL {
		return nil, db.pathError("open", fmt.Errorf("%w: file format version %d", ErrUnsupported, h.ReadVersion))
	}
	version := db.versions.Add(1)
	s := &snapshot{
		version:  version,
		layout:   version,
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
	s.schema = newSchema(s, old)
	if db.wal == nil {
		if err := db.measure(s, size); err != nil {
			return nil, err
		}
	}
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
		return rx.corrupt(0, fmt.Sprintf("the file is cut off: it has %d of %d pages", inFile, s.pages))
	}
	return nil
}

// reserve is how much address space a map takes at the least, so that a database can grow without a new map. Memory is
// taken only for what is read.
const reserve = 1 << 30

// mapFile lets s.mapped show the file's whole pages, through the map at hand if it is long enough. The caller holds mu.
func (db *DB) mapFile(s *snapshot, size int64) error {
	whole := size >> s.shift << s.shift
	if db.wal == nil {
		whole = min(whole, int64(s.pages)<<s.shift)
	}
	if db.options.Plain || whole > math.MaxInt/4 || db.wal != nil && db.wal.access == logWatched {
		return nil
	}
	if db.mapping == nil || int64(len(db.mapping.Bytes())) < whole {
		db.remap(max(2*whole, reserve), whole)
	}
	if db.mapping != nil {
		s.mapped = db.mapping.Bytes()[:whole:whole]
	}
	return nil
}

// remap maps n bytes or, where there is no address space for as much, least bytes; where there is none for those
// either, or the system has no maps, the database is read without one. The old map stays for those who look at it.
func (db *DB) remap(n, least int64) {
	if db.mapping != nil {
		db.retired = append(db.retired, db.mapping)
		db.mapping = nil
	}
	for _, n := range []int64{n, least} {
		if m, err := db.file.Map(n); err == nil {
			db.mapping = m
			return
		}
	}
}
