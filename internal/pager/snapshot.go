package pager

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strconv"
	"sync/atomic"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/lease"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/wal"
)

// A Snapshot is shared by all readers while the database does not change: they see the file, and
// the log, through it. It is immutable except for its caches.
type Snapshot struct {
	lease     *lease.Lease
	Version   uint64 // of the content
	Layout    uint64 // of where the pages lie: slices of them are as good in any other snapshot with the same
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

// readers makes the snapshots of read transactions, and takes the locks under which they are valid.
type readers struct {
	pager     *Pager
	versions  atomic.Uint64 // how many snapshots there were
	fileLease *lease.Lease  // on SHARED, in rollback mode
	outgrown  []*wal.Log    // logs that were opened again, and still have readers
	mapping   *osfile.Mapping
	retired   []*osfile.Mapping // superseded by a longer one, unmapped once no reader can look at them
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

// tryAcquire returns a snapshot that the caller is a reader of. ErrLocked means to try again.
func (r *readers) tryAcquire() (*Snapshot, error) {
	r.pager.mu.Lock()
	defer r.pager.mu.Unlock()
	switch {
	case r.pager.closed:
		return nil, r.pager.PathError("view", dberr.ErrClosed)
	case r.pager.lost != nil:
		return nil, r.pager.lost
	case r.pager.frozen:
		return nil, dberr.ErrOurselves
	}
	if s := r.pager.snapshot.Load(); s != nil && s.enter() { // another goroutine was faster
		return s, nil
	}
	if r.pager.wal == nil {
		s, err := r.acquireFile()
		if r.pager.wal == nil {
			return s, err
		}
	}
	return r.acquireLog()
}

// acquireFile takes SHARED and makes a snapshot of the file in rollback mode. If the database turns
// out to be in WAL mode, it opens the log and keeps SHARED for as long as that is open. The caller
// holds mu.
func (r *readers) acquireFile() (*Snapshot, error) {
	if l := r.fileLease; l != nil {
		if !l.Unused() {
			return nil, errOurReaders // it is draining
		}
		if err := r.pager.locks.unlockShared(); err != nil { // as its end would do at this moment
			return nil, err
		}
		r.fileLease = nil
	}
	if err := r.pager.locks.lockShared(); err != nil {
		return nil, err
	}
	s, err := r.look()
	if err != nil {
		return nil, dberr.Join(err, r.pager.locks.unlockShared())
	}
	if r.pager.wal != nil {
		return nil, nil
	}
	r.leaseFile(s)
	return s, nil
}

// leaseFile lends SHARED to the readers of s, the first of whom is the caller. It holds mu.
func (r *readers) leaseFile(s *Snapshot) {
	l := lease.New(0, nil)
	l.Drop = func() { r.dropShared(l) }
	r.pager.busy.Add(1)
	r.pager.tally.add(l, r.pager.busy.Done)
	s.lease, r.fileLease = l, l
	r.pager.snapshot.Store(s)
	go l.Keep(r.pager.locks.obstructs())
}

// dropShared ends l, and with it SHARED, unless that has passed on to another lease.
func (r *readers) dropShared(l *lease.Lease) {
	r.pager.mu.Lock()
	defer r.pager.mu.Unlock()
	if r.fileLease != l {
		return
	}
	_ = r.pager.locks.unlockShared() // fails only with the file
	r.fileLease = nil
}

// look reads the file's header under SHARED and returns a snapshot, or opens the log.
func (r *readers) look() (*Snapshot, error) {
	hot, err := r.pager.rollback.hot()
	if err == nil && hot {
		err = r.pager.rollback.recoverFile()
	}
	if err != nil {
		return nil, err
	}
	return r.lookAtFile(true)
}

// lookAtFile is look where no journal can be hot. If logs, it opens the log of a database that
// turns out to be in WAL mode.
func (r *readers) lookAtFile(logs bool) (*Snapshot, error) {
	size, err := r.pager.file.Size()
	if err != nil {
		return nil, err
	}
	old := r.pager.snapshot.Load()
	if size == 0 {
		return r.emptySnapshot(old)
	}
	var b [format.HeaderSize]byte
	if n, err := r.pager.file.ReadAt(b[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	} else if n < len(b) {
		return nil, r.pager.PathError("open", notDatabase(size))
	}
	if logs {
		if wal, err := r.wantsLog(&b); wal || err != nil {
			if err == nil {
				err = r.openLog(&b)
			}
			return nil, err
		}
	}
	if old != nil && old.wal == nil && old.size == size && string(old.change[:]) == string(b[changeStart:changeEnd]) {
		same := *old
		return &same, nil
	}
	return r.newSnapshot(old, b[:], size)
}

func notDatabase(size int64) error {
	if size == 0 {
		return fmt.Errorf("%w: it is empty", dberr.ErrNotDatabase)
	}
	return fmt.Errorf("%w: it has only %d bytes", dberr.ErrNotDatabase, size)
}

// wantsLog reports whether the database is in WAL mode: its header says so, or a log lies beside
// it.
func (r *readers) wantsLog(b *[format.HeaderSize]byte) (bool, error) {
	if b[19] == format.VersionWAL {
		return true, nil
	}
	_, ok, err := r.pager.options.System.SideExists(r.pager.file, "-wal")
	return ok, err
}

// openLog opens the log. The caller must hold SHARED and mu.
func (r *readers) openLog(b *[format.HeaderSize]byte) (err error) {
	h, what := format.ParseHeader(b[:])
	size := h.PageSize
	if what != "" { // a checkpoint that was cut off may have left garbage; then the log has page 1
		if size, err = r.loggedPageSize(); err != nil || size == 0 {
			return cmp.Or(err, r.pager.PathError("open", fmt.Errorf("%w: %s", dberr.ErrNotDatabase, what)))
		}
	}
	log, err := r.openWAL(size)
	if r.pager.room.lendAlone(err) {
		log, err = r.openWAL(size)
	}
	if err != nil {
		return err
	}
	log.Synced = r.pager.options.Durability <= DurabilityExtra
	log.Named.Store(r.pager.options.Durability == DurabilityOff)
	log.Watch = &r.pager.watch
	log.Failed, log.Recovered = r.pager.synced, r.pager.traceRecovery
	log.Lend, log.Shrunk = r.pager.room.lendRoom, r.pager.room.keepAfterCut
	r.pager.wal = log
	r.pager.traceLinks(r.pager.file)
	return nil
}

// openWAL opens the log for writing or, where the system does not allow that, for reading.
func (r *readers) openWAL(pageSize int) (*wal.Log, error) {
	denied := r.pager.denied
	if denied == nil {
		log, err := wal.Open(r.pager.options.System, r.pager.file, pageSize, r.pager.options.NoMmap, r.pager.sole)
		if err == nil || r.pager.sole || !osfile.Unwritable(err) {
			return log, err
		}
		denied = err
	}
	return wal.OpenReadOnly(r.pager.options.System, r.pager.file, pageSize, r.pager.options.NoMmap, r.pager.options.Immutable, denied)
}

// loggedPageSize returns the page size that the log has, or 0 if there is none.
func (r *readers) loggedPageSize() (int, error) {
	f, err := r.pager.options.System.OpenSide(r.pager.file, "-wal", osfile.ReadOnly)
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
	return h.PageSize, dberr.Join(dberr.IgnoreEOF(err), f.Close())
}

// acquireLog takes a read lock of the log and makes a snapshot of the log's current state. Another
// connection holds the lock in the way for a moment only, in which it waits for nothing, unless it
// recovers the log: only that is worth an ErrLocked. The caller must hold mu.
func (r *readers) acquireLog() (*Snapshot, error) {
	locked := osfile.ErrLocked
	for range 100 {
		s, err := r.tryLog()
		switch {
		case errors.Is(err, osfile.ErrLocked):
			locked = err
		case !errors.Is(err, wal.ErrChanged):
			return s, err
		}
	}
	return nil, locked
}

func (r *readers) tryLog() (*Snapshot, error) {
	if err := r.renewLog(); err != nil {
		return nil, err
	}
	h, err := r.pager.wal.State()
	if err != nil {
		return nil, err
	}
	words := h.Words()
	old := r.pager.snapshot.Load()
	l, err := r.leaseFor(old, &h, &words)
	if err != nil {
		return nil, err
	}
	var s *Snapshot
	err = dberr.Guard(func() error {
		s, err = r.newLogSnapshot(old, &h, &words, l.Whole)
		if err = r.pager.wal.Observer.UnlessChanged(err); err == dberr.ErrChanged {
			err = wal.ErrChanged
		}
		return err
	})
	if err != nil {
		l.Leave()
		return nil, err
	}
	s.lease = l
	r.pager.snapshot.Store(s)
	return s, nil
}

// advance returns the snapshot after a commit to base of this writer that h describes, with the
// caller as a reader. Where the lease of base goes on, it is base with the changes of the commit.
func (r *readers) advance(base *Snapshot, h *format.WALIndexHeader, pages []wal.Page) (*Snapshot, error) {
	if base.lease.Slot == 0 || !base.lease.Enter() {
		return r.pager.commits.republish()
	}
	both := &struct { // in one piece of memory
		Snapshot
		pageCache
	}{Snapshot: *base}
	next := &both.Snapshot
	next.Version, next.words, next.last, next.PageCount = r.versions.Add(1), h.Words(), h.MaxFrame, h.PageCount
	next.Layout = next.Version
	next.Mapped, next.Cache = nil, &both.pageCache
	if pages[0].Pgno == 1 {
		next.Header, _ = format.ParseHeader(pages[0].Data)
		next.Schema = newSchema(next, base)
	}
	r.pager.mu.Lock()
	defer r.pager.mu.Unlock()
	next.frames = next.wal.FrameTable(h)
	r.pager.snapshot.Store(next)
	return next, nil
}

// leaseFor returns a lease under which the state h can be read, with the caller counted in: that of
// the last snapshot, if its mark keeps the log from restarting, or a new one.
func (r *readers) leaseFor(old *Snapshot, h *format.WALIndexHeader, words *format.WALIndexWords) (*lease.Lease, error) {
	if old != nil && old.wal != nil {
		if old.lease.Slot > 0 && r.pager.wal.Index.Backfill() != h.MaxFrame && old.lease.Enter() {
			return old.lease, nil
		}
		old.lease.Retire()
	}
	w := r.pager.wal
	slot, whole, err := w.ReadLock(h, words)
	if err != nil {
		return nil, err
	}
	l := lease.New(slot, func() { w.UnlockRead(slot) })
	l.Whole = whole
	r.pager.busy.Add(1)
	r.pager.tally.add(l, r.pager.busy.Done)
	mark := h.MaxFrame
	go l.Keep(func() bool { return w.MovedOn(mark) || w.InTheWay(l.Slot, l.Whole, mark) })
	return l, nil
}

// newLogSnapshot makes the snapshot of state h of the log. whole says that the file alone has
// everything.
func (r *readers) newLogSnapshot(old *Snapshot, h *format.WALIndexHeader, words *format.WALIndexWords, whole bool) (*Snapshot, error) {
	size, err := r.pager.file.Size()
	if err != nil {
		return nil, err
	}
	if err := r.checkHome(h); err != nil {
		return nil, err
	}
	last := h.MaxFrame
	if whole {
		last = 0
	}
	b, err := r.firstPage(last)
	if err != nil {
		return nil, err
	}
	s, err := r.newSnapshot(old, b, size)
	if err != nil {
		return nil, err
	}
	s.wal, s.words, s.last, s.file, s.frames = r.pager.wal, *words, last, s.Mapped, r.pager.wal.FrameTable(h)
	same := old != nil && old.wal == r.pager.wal && old.words == *words
	if h.MaxFrame == 0 && !(same && r.pager.wal.Frozen()) {
		return s, r.measure(s, size)
	}
	if same { // no transaction has written since: the checksums of the log are in there
		s.Version, s.Cache = old.Version, old.Cache
		if old.last == last { // else pages that were read in the log must be read in the file from now on, or the other way round
			s.Layout = old.Layout
		}
	}
	if h.MaxFrame == 0 {
		return s, r.measure(s, size)
	}
	if last != 0 {
		s.Mapped = nil
	}
	return s, r.measureLog(s, h.PageCount)
}

// checkHome gives ErrMispaired if the log does not belong to the file, and ErrMoved if it was
// before.
func (r *readers) checkHome(h *format.WALIndexHeader) error {
	log := r.pager.wal
	known := log.Known()
	if known && r.mapping != nil && log.StayHome(r.mapping.Bytes(), h) {
		return nil
	}
	err := log.Home(h)
	switch {
	case err == nil && !known:
		if err = r.checkUsers(log); err != nil {
			log.ForgetHome()
		}
		return err
	case !errors.Is(err, wal.ErrReplaced):
		return err
	case known:
		return r.pager.movedAway("view", r.pager.file)
	}
	return r.pager.PathError("open", mispairedError{log.File.Name()})
}

// stillHome gives ErrMoved if the log of s, which the caller is a reader of, does not belong to the
// file any more. While a checkpoint is at work that cannot be told.
func (r *readers) stillHome(s *Snapshot) error {
	h, ok, err := s.wal.Index.Load()
	if err != nil || !ok || !errors.Is(s.wal.Home(&h), wal.ErrReplaced) {
		return err
	}
	return r.pager.movedAway("view", r.pager.file)
}

// errOtherUsers says that the log cannot be used yet.
var errOtherUsers = &dberr.HeldError{Err: osfile.ErrLocked, Who: "another connection uses its log for a file that was here before"}

// checkUsers gives ErrLocked if other connections hold the log open, and none of them this file:
// they have one that it has replaced. Every connection to a database in WAL mode holds SHARED for
// longer than it uses the log. Where the system can only tell by giving up locks, nothing is looked
// at.
func (r *readers) checkUsers(log *wal.Log) error {
	if log.Access != wal.AccessShared || r.pager.sole || !osfile.SplitsLocks {
		return nil
	}
	for range 2 { // the last one may be closing
		if alone, err := log.Index.Alone(); err != nil || alone {
			return err
		}
		if shared, err := r.pager.locks.sharedByOthers(); err != nil || shared {
			return err
		}
	}
	return errOtherUsers
}

// measureLog is measure where the last commit in the log left committed pages. Page 1 has its own
// count, which counts unless it is larger, as for SQLite.
func (r *readers) measureLog(s *Snapshot, committed uint32) error {
	s.PageCount = cmp.Or(s.Header.PageCount, committed)
	if s.PageCount <= committed {
		return nil
	}
	rx := Rx{pager: r.pager}
	return rx.Corrupt(1, fmt.Sprintf("the log ends with %d of %d pages", committed, s.PageCount))
}

// firstPage returns the header as it is in the log up to frame last, or else in the file.
func (r *readers) firstPage(last uint32) ([]byte, error) {
	frame, err := r.pager.wal.Index.Find(1, last)
	if err != nil {
		return nil, err
	}
	if frame != 0 {
		return r.pager.wal.Page(frame)
	}
	b := make([]byte, format.HeaderSize)
	_, err = r.pager.file.ReadAt(b, 0)
	return b, dberr.CutOff(r.pager.path, err)
}

func (r *readers) newSnapshot(old *Snapshot, b []byte, size int64) (*Snapshot, error) {
	h, what := format.ParseHeader(b)
	if what != "" {
		return nil, r.pager.PathError("open", fmt.Errorf("%w: %s", dberr.ErrNotDatabase, what))
	}
	if h.ReadVersion > format.VersionWAL {
		return nil, r.pager.PathError("open", fmt.Errorf("%w: file format version %d", dberr.ErrUnsupported, h.ReadVersion))
	}
	version := r.versions.Add(1)
	s := &Snapshot{
		Version:  version,
		Layout:   version,
		size:     size,
		Header:   h,
		change:   [16]byte(b[changeStart:changeEnd]),
		LockPage: h.LockPage(),
		Usable:   h.Usable(),
		Cache:    new(pageCache),
	}
	for 1<<s.PageShift < h.PageSize {
		s.PageShift++
	}
	s.Spill = [2]format.Spill{format.SpillOf(format.LeafIndex, s.Usable), format.SpillOf(format.LeafTable, s.Usable)}
	s.Schema = newSchema(s, old)
	if r.pager.wal == nil {
		if err := r.measure(s, size); err != nil {
			return nil, err
		}
	}
	return s, r.mapFile(s, size)
}

// measure fills in the number of pages. The header knows it, unless an old version of SQLite wrote
// last; a file with fewer pages than that is corrupt.
func (r *readers) measure(s *Snapshot, size int64) error {
	inFile := (size + int64(s.Header.PageSize) - 1) >> s.PageShift
	s.PageCount = s.Header.PageCount
	if s.PageCount == 0 {
		s.PageCount = uint32(min(inFile, format.MaxPage))
	}
	if int64(s.PageCount) > inFile {
		rx := Rx{pager: r.pager}
		return rx.Corrupt(0, fmt.Sprintf("the file is cut off: it has %d of %d pages", inFile, s.PageCount))
	}
	return nil
}

// reserve is how much address space a map takes at the least, so that a database can grow without a
// new map: 1 GiB, or 1 MiB where addresses have 32 bits. Memory is taken only for pages that are
// read.
const reserve = 1 << 20 << (10 * (strconv.IntSize/32 - 1))

// mapFile lets s.mapped show the file's whole pages, through the map at hand if it is long enough.
// The caller must hold mu.
func (r *readers) mapFile(s *Snapshot, size int64) error {
	whole := size >> s.PageShift << s.PageShift
	if r.pager.wal == nil {
		whole = min(whole, int64(s.PageCount)<<s.PageShift)
	}
	if r.pager.options.NoMmap || whole > math.MaxInt/4 || r.pager.wal != nil && r.pager.wal.Access == wal.AccessWatched {
		return nil
	}
	if r.mapping == nil || int64(len(r.mapping.Bytes())) < whole {
		r.remap(max(2*whole, reserve), whole)
	}
	if r.mapping != nil {
		s.Mapped = r.mapping.Bytes()[:whole:whole]
	}
	return nil
}

// remap maps n bytes or, where there is no address space for as much, least bytes; where there is
// none for those either, or the system has no maps, the database is read without one. The old map
// stays for those who look at it.
func (r *readers) remap(n, least int64) {
	if r.mapping != nil {
		r.retired = append(r.retired, r.mapping)
		r.mapping = nil
	}
	for _, n := range []int64{n, least} {
		if m, err := r.pager.file.Map(n); err == nil {
			r.mapping = m
			return
		}
	}
}
