package pager

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/pageset"
	"github.com/foliofs/folio/internal/superjournal"
	"github.com/foliofs/folio/internal/wal"
)

// A journal is the rollback journal of one transaction.
//
// Invariants, for the database file and its journal together:
//
//	P1  A page of the file is overwritten, or cut off, only after its image is in the journal, and
//	    the journal is synced.
//	P2  The journal has no header with a magic number before its records are synced; the header is
//	    synced before P1's overwriting.
//	P3  The file is synced before the journal is finished.
//	P4  Writes to the file are whole pages, under EXCLUSIVE.
//	P5  A commit has happened once its journal is removed, cut to nothing, or has no header any more.
//	    An error after that is one of a sync (ErrFailed), or says that the database has lost its name.
//	    If finishing fails before, the journal stays hot, and the next transaction plays it back.
//
//	none --[save]--> saved --[overwrite]--> hot --[finish]--> none
//	                         hot --[replay]--> none
type journal struct {
	pager  *Pager
	name   string
	file   osfile.Handle
	end    int64       // where the next segment begins
	saved  pageset.Set // pages whose images are saved
	images int         // how many these are
	hot    bool        // the database file has changed

	restored int // pages that were played back
}

// rollback commits in rollback mode, and rolls back the transaction of a process that died.
type rollback struct{ pager *Pager }

const JournalSector = 512 // headers are padded to this size

func (r *rollback) journalName() string { return r.pager.file.Name() + "-journal" }

// openJournal opens the journal of a transaction on base, and makes it if need be. One that is
// there was finished, perhaps by a process that died before it could sync that: unless it was ours,
// it is synced now, lest its old header come back to life over new records.
func (r *rollback) openJournal(base *Snapshot) (*journal, error) {
	if err := r.pager.inPlace(r.pager.file); err != nil {
		return nil, err // it would be the journal of another database
	}
	_, there, err := r.pager.options.System.SideExists(r.pager.file, "-journal")
	if err != nil {
		return nil, err
	}
	file, err := r.pager.options.System.OpenSide(r.pager.file, "-journal", osfile.ReadWrite|osfile.Create)
	if err != nil {
		return nil, err
	}
	j := &journal{pager: r.pager, name: r.journalName(), file: file}
	if there && r.pager.writer.seen != base.Version {
		if err := j.adopt(); err != nil {
			return nil, dberr.Join(err, file.Close())
		}
	}
	return j, nil
}

// adopt makes durable that the journal of another connection is finished. If it ends with the name
// of a super-journal, it is cut off: that name would come to stand behind the records of this
// transaction.
func (j *journal) adopt() error {
	super, err := j.superJournal()
	if err == nil && super.Named() {
		err = j.file.Truncate(0)
	}
	if err != nil {
		return err
	}
	return j.pager.sync(j.file)
}

// save writes the images of those of the given pages of base that have none yet as one more
// segment, and makes them durable (P2). If it returns an error, no page counts as saved by it.
func (j *journal) save(base *Rx, pgnos []uint32) error {
	pgnos = slices.DeleteFunc(pgnos, func(pgno uint32) bool { return j.saved.Has(pgno) })
	switch {
	case len(pgnos) == 0 && j.end > 0:
		return nil
	case j.end == 0 && base.PageCount > 0 && !slices.Contains(pgnos, 1):
		pgnos = append([]uint32{1}, pgnos...) // by which the journal is known to belong to the file; each commit changes it
	}
	h := format.JournalHeader{
		Records: uint32(len(pgnos)), Nonce: wal.RandomWord(), PageCount: base.PageCount,
		SectorSize: JournalSector, PageSize: uint32(base.Header.PageSize),
	}
	off := j.end + JournalSector
	b := make([]byte, 0, 64*format.JournalRecordSize(base.Header.PageSize))
	for i, pgno := range pgnos {
		page, err := base.WholePage(pgno)
		if err != nil {
			return err
		}
		r := format.JournalRecord{Page: pgno, Content: page, Checksum: format.JournalChecksum(h.Nonce, page)}
		if b = r.Append(b); len(b)+format.JournalRecordSize(len(page)) > cap(b) || i == len(pgnos)-1 {
			if _, err := j.file.WriteAt(b, off); err != nil {
				return err
			}
			off += int64(len(b))
			b = b[:0]
		}
	}
	if err := j.head(&h, off); err != nil {
		return err
	}
	for _, pgno := range pgnos {
		j.saved.Add(pgno)
	}
	j.images += len(pgnos)
	j.end = format.JournalNextSegment(off, JournalSector)
	return nil
}

// Head writes the header of the segment that begins at j.end: without its magic number first, then,
// once everything is durable, whole.
func (j *journal) head(h *format.JournalHeader, end int64) error {
	var sector [JournalSector]byte
	if err := j.clearStale(end); err != nil {
		return err
	}
	h.Put(sector[:])
	if j.pager.options.Durability == DurabilityOff {
		_, err := j.file.WriteAt(sector[:], j.end)
		return err
	}
	clear(sector[:12])
	if _, err := j.file.WriteAt(sector[:], j.end); err != nil {
		return err
	}
	if err := j.pager.sync(j.file); err != nil {
		return err
	}
	if j.end == 0 {
		if err := j.pager.syncDir(j.name); err != nil {
			return err
		}
	}
	h.Put(sector[:])
	if _, err := j.file.WriteAt(sector[:12], j.end); err != nil {
		return err
	}
	return j.pager.sync(j.file)
}

// clearStale makes sure that no header of an earlier, longer journal follows the records.
func (j *journal) clearStale(end int64) error {
	size, err := j.file.Size()
	next := format.JournalNextSegment(end, JournalSector)
	if err != nil || size <= next {
		return err
	}
	_, err = j.file.WriteAt(make([]byte, 12), next)
	return err
}

// finish makes the journal useless, so that it is not played back: the commit, or the end of a
// rollback.
func (j *journal) finish(mode JournalMode) error {
	switch mode {
	case JournalTruncate:
		if err := j.file.Truncate(0); err != nil {
			return err
		}
		return j.pager.sync(j.file)
	case JournalPersist:
		if _, err := j.file.WriteAt(make([]byte, format.JournalHeaderSize), 0); err != nil {
			return err
		}
		return j.pager.sync(j.file)
	}
	if err := dberr.IgnoreMissing(j.pager.options.System.Remove(j.name)); err != nil {
		return err
	}
	if j.pager.options.Durability == DurabilityExtra {
		return j.pager.syncDir(j.name)
	}
	return nil
}

func (j *journal) close() error { return j.file.Close() }

// hot reports whether a journal lies beside the database that no process works on and that must be
// played back. The caller must hold SHARED. Another process may begin and end a transaction while
// we look, and then look like a dead one, but not every time.
func (r *rollback) hot() (bool, error) {
	for range 4 {
		if hot, err := r.looksHot(); err != nil || !hot {
			return false, err
		}
	}
	return true, nil
}

func (r *rollback) looksHot() (bool, error) {
	size, ok, err := r.pager.options.System.SideExists(r.pager.file, "-journal")
	if err != nil || !ok || size == 0 {
		return false, err
	}
	if size, err = r.pager.file.Size(); err != nil || size == 0 { // nothing can be rolled back to: it was left by another database
		return false, err
	}
	reserved, err := r.writerAlive()
	if err != nil || reserved {
		return false, err
	}
	f, err := r.pager.options.System.OpenSide(r.pager.file, "-journal", osfile.ReadOnly)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var first [1]byte
	n, err := f.ReadAt(first[:], 0)
	if err := dberr.Join(dberr.IgnoreEOF(err), f.Close()); err != nil || n == 0 || first[0] == 0 {
		return false, err
	}
	reserved, err = r.writerAlive() // one may have begun since
	return !reserved, err
}

// writerAlive reports whether another connection holds RESERVED.
func (r *rollback) writerAlive() (bool, error) {
	if r.pager.options.Immutable {
		return false, nil
	}
	return r.pager.file.Locked(osfile.Shared, format.ReservedByte, 1)
}

// recoverFile plays back a hot journal. The caller must hold SHARED. It goes to EXCLUSIVE without
// RESERVED: a process that sees RESERVED would take the journal for a living writer's, and read the
// file as it is.
func (r *rollback) recoverFile() error {
	if r.pager.options.ReadOnly {
		return r.leaveJournal()
	}
	if err := r.pager.locks.lockExclusive(); err != nil {
		return dberr.Join(err, r.pager.locks.toShared())
	}
	err := r.replay()
	return dberr.Join(err, r.pager.locks.toShared())
}

// leaveJournal gives ErrNeedsRecovery, unless the transaction of the journal was committed: then
// the file is as it should be. The caller must hold SHARED.
func (r *rollback) leaveJournal() error {
	file, err := r.pager.options.System.Open(r.journalName(), osfile.ReadOnly, 0)
	if err != nil {
		return dberr.IgnoreMissing(err)
	}
	super, err := (&journal{pager: r.pager, file: file}).superJournal()
	committed := false
	if err == nil {
		committed, err = super.Gone()
	}
	if err == nil && !committed {
		err = dberr.ErrNeedsRecovery
	}
	return r.pager.PathError("open", dberr.Join(err, file.Close()))
}

// replay plays the journal back, if it is still there. The caller must hold EXCLUSIVE.
func (r *rollback) replay() error {
	file, err := r.pager.options.System.OpenSide(r.pager.file, "-journal", osfile.ReadWrite)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if osfile.Unwritable(err) {
		return r.pager.PathError("open", fmt.Errorf("%w (journal: %s)", dberr.ErrNeedsRecovery, dberr.Brief(err)))
	}
	if err != nil {
		return err
	}
	j := &journal{pager: r.pager, name: r.journalName(), file: file}
	start := r.pager.clock()
	err = j.playBack()
	r.pager.trace(Event{Kind: EventRecovery, Start: start, Pages: j.restored, Err: err})
	return dberr.Join(err, j.close())
}

// playBack restores the file and removes the journal. A journal whose super-journal is gone is only
// removed, because its transaction was committed.
func (j *journal) playBack() error {
	if err := j.pager.sync(j.file); err != nil { // the journal that is read now must not be lost after the file changed
		return err
	}
	super, err := j.superJournal()
	if err != nil {
		return err
	}
	committed, err := super.Gone()
	switch {
	case err != nil:
	case committed:
		err = super.Settle()
	default:
		err = j.restore()
	}
	if err != nil {
		return err
	}
	if err := j.finish(JournalDelete); err != nil {
		return err
	}
	if !committed {
		super.Remove(j.name)
	}
	return nil
}

// restore writes the images back, segment by segment, up to the first record that is not valid.
func (j *journal) restore() error {
	if err := j.checkHome(); err != nil {
		return err
	}
	err := j.each(func(first *format.JournalHeader) error {
		return j.pager.cut(int64(first.PageCount) * int64(first.PageSize))
	}, func(first *format.JournalHeader, r *format.JournalRecord) error {
		j.restored++
		_, err := j.pager.file.WriteAt(r.Content, int64(r.Page-1)*int64(first.PageSize))
		return err
	})
	if err != nil {
		return err
	}
	return j.pager.sync(j.pager.file)
}

// mostCounted is by how much a commit raises the change counter: once for each transaction in it.
const mostCounted = 1 << 16

// checkHome gives ErrMispaired if page 1 of the file is neither the one in the journal nor one that
// its transaction can have written: the journal belongs to another file. If the journal contains no
// page 1, or a crash has left garbage in the file's, nothing is known.
func (j *journal) checkHome() error {
	var b [format.HeaderSize]byte
	if _, err := j.pager.file.ReadAt(b[:], 0); err != nil {
		return dberr.IgnoreEOF(err)
	}
	if _, what := format.ParseHeader(b[:]); what != "" {
		return nil
	}
	now, before, found := format.ChangeOf(b[:]), format.Change{}, false
	err := j.each(func(*format.JournalHeader) error { return nil }, func(_ *format.JournalHeader, r *format.JournalRecord) error {
		if r.Page == 1 {
			before, found = format.ChangeOf(r.Content), true
		}
		return nil
	})
	if err != nil || !found || now.Counter()-before.Counter() <= mostCounted {
		return err
	}
	return j.pager.PathError("open", mispairedError{j.name})
}

// each calls begin with the first header, and record with each record of a page of the database, up
// to the first one that is not valid. A header counts only if its whole sector is there: a journal
// that was cut off in it, for example because it was copied in part, holds nothing.
func (j *journal) each(begin func(first *format.JournalHeader) error, record func(first *format.JournalHeader, r *format.JournalRecord) error) error {
	size, err := j.file.Size()
	if err != nil {
		return err
	}
	var b [format.JournalHeaderSize]byte
	first := format.JournalHeader{SectorSize: JournalSector} // SQLite asks for as much of the first one
	for off, n := int64(0), 0; off+int64(first.SectorSize) <= size; n++ {
		if _, err := j.file.ReadAt(b[:], off); err != nil {
			return err
		}
		h, ok := format.ParseJournalHeader(b[:])
		if !ok || n == 0 && !h.ValidSizes() {
			break
		}
		if n == 0 {
			if first, err = j.pager.withPageSize(h); err != nil {
				return err
			}
			if err := begin(&first); err != nil {
				return err
			}
		}
		off += int64(first.SectorSize)
		if h.Records == format.JournalAllRecords {
			h.Records = uint32(max(size-off, 0) / int64(format.JournalRecordSize(int(first.PageSize))))
		}
		end, more, err := j.eachOf(&first, &h, off, record)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		off = format.JournalNextSegment(end, first.SectorSize)
	}
	return nil
}

// withPageSize completes the header of a journal that does not tell its page size, because it is of
// SQLite before 3.5.8: with that in the header of the database, or else the default of SQLite.
func (p *Pager) withPageSize(h format.JournalHeader) (format.JournalHeader, error) {
	if h.PageSize != 0 {
		return h, nil
	}
	var b [format.HeaderSize]byte
	if _, err := p.file.ReadAt(b[:], 0); dberr.IgnoreEOF(err) != nil {
		return h, err
	}
	h.PageSize = DefaultPageSize
	if size, ok := format.StoredPageSize(b[:]); ok {
		h.PageSize = size
	}
	return h, nil
}

// eachOf is each for one segment. Where there are two records of a page the last one counts, as in
// SQLite: no writer saves a page twice, but a record can get the number of another page from an
// older journal in the same file, if it was not synced. And one beyond the end of the database is
// passed over, whatever its checksum.
func (j *journal) eachOf(first, h *format.JournalHeader, off int64, record func(first *format.JournalHeader, r *format.JournalRecord) error) (end int64, more bool, err error) {
	b := make([]byte, format.JournalRecordSize(int(first.PageSize)))
	for n := uint32(0); n < h.Records; n++ {
		if _, err := j.file.ReadAt(b, off); err != nil {
			return off, false, dberr.IgnoreEOF(err)
		}
		r, ok := format.ParseJournalRecord(b)
		beyond := r.Page > first.PageCount && r.Page != format.LockPage(int(first.PageSize))
		if !ok || !beyond && !r.Valid(h.Nonce) {
			return off, false, nil
		}
		if !beyond {
			if err := record(first, &r); err != nil {
				return off, false, err
			}
		}
		off += int64(len(b))
	}
	return off, true, nil
}

// commitFile commits a batch in rollback mode: it writes the whole batch to the file, or leaves the
// file as it was, also if all of ctxs are cancelled while readers are in the way. The caller must
// hold RESERVED, and EXCLUSIVE after it.
func (r *rollback) commitFile(base *Snapshot, batch []wal.Page, size uint32, ctxs ...context.Context) (err error) {
	j := r.pager.writer.journal
	if j == nil {
		if j, err = r.openJournal(base); r.pager.room.lendRoom(err) {
			j, err = r.openJournal(base)
		}
		if err != nil {
			return err
		}
	}
	r.pager.writer.journal, r.pager.writer.spilled = nil, pageset.Set{}
	if err = r.saveOriginals(j, base, batch, size); err == nil {
		err = r.awaitExclusive(base, ctxs...)
	}
	if err == nil {
		j.hot = true
		err = r.overwrite(base, batch, size)
	}
	switch {
	case err == nil:
		err = r.conclude(j)
	case j.hot:
		err = dberr.Join(err, r.undo(j))
	default:
		err = dberr.Join(err, j.discard())
	}
	return err
}

// conclude finishes the journal of a batch that is in the file: the commit point (P5).
func (r *rollback) conclude(j *journal) error {
	err := j.finish(r.pager.options.JournalMode)
	_ = j.close() // all that it had to keep is on disk, or of no use any more
	if err != nil {
		return err
	}
	if r.pager.room.lent.Load() {
		r.pager.room.returnJournalRoom(j)
	}
	return r.pager.stillInPlace(r.pager.file)
}

// saveOriginals saves the pages that a batch is about to overwrite and to cut off. The journal may
// use the kept room, which comes back when the journal ends.
func (r *rollback) saveOriginals(j *journal, base *Snapshot, batch []wal.Page, size uint32) error {
	save := func() error {
		pgnos := overwritten(base, batch, size)
		if err := r.pager.room.fillOriginals(pgnos, base.PageShift); err != nil {
			return err
		}
		return j.save(&Rx{Snapshot: base, pager: r.pager}, pgnos)
	}
	err := dberr.Guard(save)
	if r.pager.room.lendRoom(err) {
		err = dberr.Guard(save)
	}
	return err
}

// overwritten returns the pages whose images the journal needs: changed pages, and pages that are
// cut off.
func overwritten(base *Snapshot, batch []wal.Page, size uint32) []uint32 {
	var pgnos []uint32
	for _, p := range batch {
		if p.Pgno <= base.PageCount && p.Pgno <= size {
			pgnos = append(pgnos, p.Pgno)
		}
	}
	for pgno := size + 1; pgno <= base.PageCount; pgno++ {
		if pgno != base.LockPage {
			pgnos = append(pgnos, pgno)
		}
	}
	return pgnos
}

// superJournal returns the super-journal that j names.
func (j *journal) superJournal() (superjournal.File, error) {
	return superjournal.Of(j.pager.options.System, j.file, j.pager.options.Durability != DurabilityOff)
}

// discard removes a journal that is not needed, as the file has not been touched.
func (j *journal) discard() error { return dberr.Join(j.finish(JournalDelete), j.close()) }

// undo plays the journal back after a failure. If that fails as well, the journal stays hot for the
// next connection, and this pager refuses to write.
func (r *rollback) undo(j *journal) error {
	err := j.playBack()
	if err == nil && j.restored < j.images {
		err = dberr.Corrupt(r.pager.path, 0, fmt.Sprintf("its journal was cut off: %d of %d pages could be rolled back", j.restored, j.images))
	}
	if err != nil {
		r.pager.fail(err)
	}
	return dberr.Join(err, j.close())
}

// awaitExclusive takes EXCLUSIVE once the readers of this process, apart from the writer itself,
// and of others are gone. It gives up when all of ctxs, of which there is one at least, are
// cancelled.
func (r *rollback) awaitExclusive(base *Snapshot, ctxs ...context.Context) error {
	base.lease.Retire()
	err := context.Canceled
	for _, ctx := range ctxs {
		err = r.pager.retryWriter(ctx, func() error {
			if base.lease.Readers() > 1 {
				return errOurReaders
			}
			return r.pager.locks.lockExclusive()
		})
		if err == nil || ctx.Err() == nil {
			return err
		}
	}
	return err
}

// overwrite writes the batch to the file, sets its size, and syncs it (P3).
func (r *rollback) overwrite(base *Snapshot, batch []wal.Page, size uint32) error {
	if err := r.writePages(base, batch, size); err != nil {
		return err
	}
	if size < base.PageCount {
		if err := r.pager.cut(int64(size) * int64(base.Header.PageSize)); err != nil {
			return err
		}
	}
	return r.pager.sync(r.pager.file)
}

// cut makes the file size bytes long, and keeps room beyond its new end.
func (p *Pager) cut(size int64) error {
	if err := p.file.Truncate(size); err != nil {
		return err
	}
	p.room.keepAfterCut()
	return nil
}

// writePages writes a batch to the file (P4).
func (r *rollback) writePages(base *Snapshot, batch []wal.Page, size uint32) error {
	for _, page := range batch {
		if page.Pgno > size {
			continue
		}
		if _, err := r.pager.file.WriteAt(page.Data, int64(page.Pgno-1)*int64(base.Header.PageSize)); err != nil {
			return err
		}
	}
	return nil
}

// CountCommit counts a commit in the header on page 1: the change counter, the size, and the
// version of the program that wrote last.
func CountCommit(page1 []byte, size uint32) { countCommit(page1, size, 1) }

// countCommit is CountCommit with a change counter that goes up by step.
func countCommit(page1 []byte, size, step uint32) {
	format.PutCounter(page1, format.ChangeOf(page1).Counter()+step)
	binary.BigEndian.PutUint32(page1[28:], size)
	binary.BigEndian.PutUint32(page1[96:], WriterVersion)
}

// handOver goes back from EXCLUSIVE to the locks of a writer, and returns a snapshot of the state
// that is committed now, under a lease of its own, with the caller as a reader.
func (r *rollback) handOver(base *Snapshot) (*Snapshot, error) {
	r.pager.mu.Lock()
	defer r.pager.mu.Unlock()
	if err := r.pager.locks.toReserved(); err != nil {
		return nil, err
	}
	s, err := r.pager.readers.lookAtFile(false) // no other connection has changed the mode
	if err != nil {
		return nil, err
	}
	r.pager.readers.leaseFile(s)
	return s, nil
}

// WriterVersion is the number of the SQLite version whose way of writing files this is: 3.50.4.
const WriterVersion = 3_050_004
