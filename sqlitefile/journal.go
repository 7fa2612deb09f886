package sqlitefile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// A JournalMode says how commits are made atomic, in SQLite's words. All but WAL keep a rollback journal: the pages as they were, until
// the file has them as they shall be.
type JournalMode int

const (
	JournalDelete   JournalMode = iota // the journal is deleted: that is the commit
	JournalTruncate                    // the journal is cut to nothing
	JournalPersist                     // the journal's header is overwritten with zeros
	JournalWAL                         // a write-ahead log
)

// A journal is the rollback journal of one transaction.
//
// Invariants, for the database file and its journal together:
//
//	P1  A page of the file is overwritten, or cut off, only after its image is in the journal, and the journal is synced.
//	P2  The journal has no header with a magic number before its records are synced; the header is synced before P1's overwriting.
//	P3  The file is synced before the journal is finished.
//	P4  Writes to the file are whole pages, under EXCLUSIVE.
//
//	none --[save]--> saved --[overwrite]--> hot --[finish]--> none
//	                         hot --[replay]--> none
type journal struct {
	db     *DB
	name   string
	file   osfile.Handle
	end    int64   // where the next segment begins
	saved  pageSet // pages whose images are saved
	images int     // how many these are
	hot    bool    // the database file is no longer what it was

	restored int // pages that were played back
}

const journalSector = 512 // what headers are padded to

func (db *DB) journalName() string { return db.file.Name() + "-journal" }

// openJournal opens the journal of a transaction on base, and makes it if need be. One that is there was finished, perhaps by a process
// that died before it could sync that: unless it was ours, it is synced now, lest its old header come back to life over new records.
func (db *DB) openJournal(base *snapshot) (*journal, error) {
	if err := db.inPlace(db.file); err != nil {
		return nil, err // it would be the journal of another database
	}
	_, there, err := db.options.system.SideExists(db.file, "-journal")
	if err != nil {
		return nil, err
	}
	file, err := db.options.system.OpenSide(db.file, "-journal", osfile.ReadWrite|osfile.Create)
	if err != nil {
		return nil, err
	}
	j := &journal{db: db, name: db.journalName(), file: file}
	if there && db.writer.seen != base.version {
		if err := j.adopt(); err != nil {
			return nil, join(err, file.Close())
		}
	}
	return j, nil
}

// adopt makes durable that the journal of another connection is finished. If it ends with the name
// of a super-journal, it is cut off: that name would come to stand behind the records of this
// transaction.
func (j *journal) adopt() error {
	super, err := j.superJournal()
	if err == nil && super.name != "" {
		err = j.file.Truncate(0)
	}
	if err != nil {
		return err
	}
	return j.db.sync(j.file)
}

// save writes the images of those of the given pages of base that have none yet as one more segment, and makes them durable
// (P2). If it returns an error, no page counts as saved by it.
func (j *journal) save(base *Rx, pgnos []uint32) error {
	pgnos = slices.DeleteFunc(pgnos, func(pgno uint32) bool { return j.saved.has(pgno) })
	if len(pgnos) == 0 && j.end > 0 {
		return nil
	}
	h := format.JournalHeader{
		Records: uint32(len(pgnos)), Nonce: randomWord(), PageCount: base.pages,
		SectorSize: journalSector, PageSize: uint32(base.header.PageSize),
	}
	off := j.end + journalSector
	b := make([]byte, 0, 64*format.JournalRecordSize(base.header.PageSize))
	for i, pgno := range pgnos {
		page, err := base.wholePage(pgno)
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
		j.saved.add(pgno)
	}
	j.images += len(pgnos)
	j.end = format.JournalNextSegment(off, journalSector)
	return nil
}

// head writes the header of the segment that begins at j.end: without its magic number first, then, once everything is durable, whole.
func (j *journal) head(h *format.JournalHeader, end int64) error {
	var sector [journalSector]byte
	if err := j.clearStale(end); err != nil {
		return err
	}
	h.Put(sector[:])
	if j.db.options.Durability == Off {
		_, err := j.file.WriteAt(sector[:], j.end)
		return err
	}
	clear(sector[:12])
	if _, err := j.file.WriteAt(sector[:], j.end); err != nil {
		return err
	}
	if err := j.db.sync(j.file); err != nil {
		return err
	}
	if j.end == 0 {
		if err := j.db.syncDir(j.name); err != nil {
			return err
		}
	}
	h.Put(sector[:])
	if _, err := j.file.WriteAt(sector[:12], j.end); err != nil {
		return err
	}
	return j.db.sync(j.file)
}

// clearStale makes sure that no header of an earlier, longer journal follows the records.
func (j *journal) clearStale(end int64) error {
	size, err := j.file.Size()
	next := format.JournalNextSegment(end, journalSector)
	if err != nil || size <= next {
		return err
	}
	_, err = j.file.WriteAt(make([]byte, 12), next)
	return err
}

// finish makes the journal one that is not played back: the commit, or the end of a rollback.
func (j *journal) finish(mode JournalMode) error {
	switch mode {
	case JournalTruncate:
		if err := j.file.Truncate(0); err != nil {
			return err
		}
		return j.db.sync(j.file)
	case JournalPersist:
		if _, err := j.file.WriteAt(make([]byte, format.JournalHeaderSize), 0); err != nil {
			return err
		}
		return j.db.sync(j.file)
	}
	if err := j.db.options.system.Remove(j.name); err != nil {
		return err
	}
	if j.db.options.Durability == Extra {
		return j.db.syncDir(j.name)
	}
	return nil
}

func (j *journal) close() error { return j.file.Close() }

// hot reports whether a journal lies beside the database that nobody is busy with and that must be played back. The caller
// holds SHARED. Another process may begin and end a transaction while we look, and then look like one that died, but not every time.
func (db *DB) hot() (bool, error) {
	for range 4 {
		if hot, err := db.looksHot(); err != nil || !hot {
			return false, err
		}
	}
	return true, nil
}

func (db *DB) looksHot() (bool, error) {
	size, ok, err := db.options.system.SideExists(db.file, "-journal")
	if err != nil || !ok || size == 0 {
		return false, err
	}
	if size, err = db.file.Size(); err != nil || size == 0 { // nothing can be rolled back to: it was left by another database
		return false, err
	}
	reserved, err := db.writerAlive()
	if err != nil || reserved {
		return false, err
	}
	f, err := db.options.system.OpenSide(db.file, "-journal", osfile.ReadOnly)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var first [1]byte
	n, err := f.ReadAt(first[:], 0)
	if err := join(ignoreEOF(err), f.Close()); err != nil || n == 0 || first[0] == 0 {
		return false, err
	}
	reserved, err = db.writerAlive() // one may have begun since
	return !reserved, err
}

// writerAlive reports whether another connection holds RESERVED.
func (db *DB) writerAlive() (bool, error) {
	if db.options.Immutable {
		return false, nil
	}
	return db.file.Locked(osfile.Shared, reservedByte, 1)
}

// recoverFile plays back a hot journal. The caller holds SHARED. It goes to EXCLUSIVE without RESERVED: whoever
// sees RESERVED would take the journal for that of a living writer, and read the file as it is.
func (db *DB) recoverFile() error {
	if db.options.ReadOnly {
		return db.leaveJournal()
	}
	if err := db.lockExclusive(); err != nil {
		return join(err, db.toShared())
	}
	err := db.replay()
	return join(err, db.toShared())
}

// leaveJournal gives ErrNeedsRecovery, unless the transaction of the journal was committed: then
// the file is as it should be. The caller holds SHARED.
func (db *DB) leaveJournal() error {
	file, err := db.options.system.Open(db.journalName(), osfile.ReadOnly, 0)
	if err != nil {
		return ignoreMissing(err)
	}
	super, err := (&journal{db: db, file: file}).superJournal()
	committed := false
	if err == nil {
		committed, err = super.gone()
	}
	if err == nil && !committed {
		err = ErrNeedsRecovery
	}
	return db.pathError("open", join(err, file.Close()))
}

// replay plays the journal back, if it is still there. The caller holds EXCLUSIVE.
func (db *DB) replay() error {
	file, err := db.options.system.OpenSide(db.file, "-journal", osfile.ReadWrite)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if osfile.Unwritable(err) {
		return db.pathError("open", fmt.Errorf("%w (journal: %s)", ErrNeedsRecovery, brief(err)))
	}
	if err != nil {
		return err
	}
	j := &journal{db: db, name: db.journalName(), file: file}
	start := db.clock()
	err = j.playBack()
	db.trace(Event{Kind: EventRecovery, Start: start, Pages: j.restored, Err: err})
	return join(err, j.close())
}

// playBack restores the file and removes the journal. A journal whose super-journal is gone is only
// removed, because its transaction was committed.
func (j *journal) playBack() error {
	if err := j.db.sync(j.file); err != nil { // what is read now must not be lost after the file changed
		return err
	}
	super, err := j.superJournal()
	if err != nil {
		return err
	}
	committed, err := super.gone()
	switch {
	case err != nil:
	case committed:
		err = super.settle()
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
		super.remove(j.name)
	}
	return nil
}

// restore writes the images back, segment by segment, up to the first record that is not valid.
func (j *journal) restore() error {
	var b [format.JournalHeaderSize]byte
	var first format.JournalHeader
	for off, n := int64(0), 0; ; n++ {
		if _, err := j.file.ReadAt(b[:], off); err != nil {
			if err != io.EOF {
				return err
			}
			break
		}
		h, ok := format.ParseJournalHeader(b[:])
		if !ok || n == 0 && !h.ValidSizes() {
			break
		}
		if n == 0 {
			if first = h; first.PageSize == 0 {
				return errors.New("a journal of a version of SQLite that is too old")
			}
			if err := j.db.file.Truncate(int64(h.PageCount) * int64(h.PageSize)); err != nil {
				return err
			}
		}
		end, more, err := j.restoreSegment(&first, &h, off+int64(first.SectorSize))
		if err != nil {
			return err
		}
		if !more {
			break
		}
		off = format.JournalNextSegment(end, first.SectorSize)
	}
	return j.db.sync(j.db.file)
}

// restoreSegment writes back the images of one segment. Where there are two of a page the last one stays, as in SQLite: no writer saves a page twice,
// but a record can get the number of another page from an older journal in the same file, if it was not synced. And one beyond the end of the
// database is passed over, whatever its checksum.
func (j *journal) restoreSegment(first, h *format.JournalHeader, off int64) (end int64, more bool, err error) {
	b := make([]byte, format.JournalRecordSize(int(first.PageSize)))
	for n := uint32(0); n < h.Records; n++ {
		if _, err := j.file.ReadAt(b, off); err != nil {
			return off, false, ignoreEOF(err)
		}
		r, ok := format.ParseJournalRecord(b)
		beyond := r.Page > first.PageCount && r.Page != format.LockPage(int(first.PageSize))
		if !ok || !beyond && !r.Valid(h.Nonce) {
			return off, false, nil
		}
		if !beyond {
			j.restored++
			if _, err := j.db.file.WriteAt(r.Content, int64(r.Page-1)*int64(first.PageSize)); err != nil {
				return off, false, err
			}
		}
		off += int64(len(b))
	}
	return off, true, nil
}

// commitFile commits a batch in rollback mode: it makes the file what it shall be, or leaves it as it was, also if all of ctxs are cancelled while
// readers are in the way. The caller holds RESERVED, and EXCLUSIVE after it.
func (db *DB) commitFile(base *snapshot, batch []framePage, size uint32, ctxs ...context.Context) (err error) {
	j := db.writer.journal
	if j == nil {
		if j, err = db.openJournal(base); db.lendRoom(err) {
			j, err = db.openJournal(base)
		}
		if err != nil {
			return err
		}
	}
	db.writer.journal, db.writer.spilled = nil, pageSet{}
	save := func() error { return j.save(&Rx{snapshot: base, db: db}, overwritten(base, batch, size)) }
	if err = guard(save); !j.hot && j.end == 0 && db.lendRoom(err) {
		err = guard(save)
	}
	if err == nil {
		err = db.awaitExclusive(base, ctxs...)
	}
	if err == nil {
		j.hot = true
		err = db.overwrite(base, batch, size)
	}
	switch {
	case err == nil:
		err = join(j.finish(db.options.JournalMode), j.close(), db.inPlace(db.file))
		if err == nil && db.room.lent.Load() {
			db.returnJournalRoom(j)
		}
	case j.hot:
		err = join(err, db.undo(j))
	default:
		err = join(err, j.discard())
	}
	return err
}

// overwritten returns the pages whose images the journal needs: those that change, and those that are cut off.
func overwritten(base *snapshot, batch []framePage, size uint32) []uint32 {
	var pgnos []uint32
	for _, p := range batch {
		if p.pgno <= base.pages && p.pgno <= size {
			pgnos = append(pgnos, p.pgno)
		}
	}
	for pgno := size + 1; pgno <= base.pages; pgno++ {
		if pgno != base.lockPage {
			pgnos = append(pgnos, pgno)
		}
	}
	return pgnos
}

// discard removes a journal that nobody needs, as the file has not been touched.
func (j *journal) discard() error { return join(j.finish(JournalDelete), j.close()) }

// undo plays the journal back after a failure. If that fails as well, the journal stays hot for the
// next connection, and this DB refuses to write.
func (db *DB) undo(j *journal) error {
	err := j.playBack()
	if err == nil && j.restored < j.images {
		err = corruptFile(db.path, 0, fmt.Sprintf("its journal was cut off: %d of %d pages could be rolled back", j.restored, j.images))
	}
	if err != nil {
		db.fail(err)
	}
	return join(err, j.close())
}

// awaitExclusive takes EXCLUSIVE once the readers of this process, apart from the writer itself, and of others are gone. It gives up when
// all of ctxs, of which there is one at least, are cancelled.
func (db *DB) awaitExclusive(base *snapshot, ctxs ...context.Context) error {
	base.lease.retire()
	err := context.Canceled
	for _, ctx := range ctxs {
		err = db.retryWriter(ctx, func() error {
			if base.lease.readers() > 1 {
				return errOurReaders
			}
			return db.lockExclusive()
		})
		if err == nil || ctx.Err() == nil {
			return err
		}
	}
	return err
}

// overwrite makes the file what it shall be, and syncs it (P3).
func (db *DB) overwrite(base *snapshot, batch []framePage, size uint32) error {
	if err := db.writePages(base, batch, size); err != nil {
		return err
	}
	if size < base.pages {
		if err := db.file.Truncate(int64(size) * int64(base.header.PageSize)); err != nil {
			return err
		}
	}
	return db.sync(db.file)
}

// writePages writes a batch to the file (P4).
func (db *DB) writePages(base *snapshot, batch []framePage, size uint32) error {
	for _, p := range batch {
		if p.pgno > size {
			continue
		}
		if _, err := db.file.WriteAt(p.data, int64(p.pgno-1)*int64(base.header.PageSize)); err != nil {
			return err
		}
	}
	return nil
}

// bump counts a commit in the header on page 1: the change counter, the size, and who wrote last.
func bump(page1 []byte, size uint32) {
	counter := binary.BigEndian.Uint32(page1[24:]) + 1
	binary.BigEndian.PutUint32(page1[24:], counter)
	binary.BigEndian.PutUint32(page1[28:], size)
	binary.BigEndian.PutUint32(page1[92:], counter)
	binary.BigEndian.PutUint32(page1[96:], writerVersion)
}

// handOver goes back from EXCLUSIVE to what a writer holds, and returns a snapshot of what is committed now, under a lease of its
// own, with the caller as a reader.
func (db *DB) handOver(base *snapshot) (*snapshot, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if err := db.toReserved(); err != nil {
		return nil, err
	}
	s, err := db.lookAtFile(false) // nobody else has changed the mode
	if err != nil {
		return nil, err
	}
	db.leaseFile(s)
	return s, nil
}
