package sqlitefile

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// A roomKeeper keeps room for a database on a disk that is nearly full, so that content can be removed even when it is full to the last block.
//
// The room is blocks of the disk that belong to the database file and lie beyond its end: its size does not change, and no other program sees
// them. A transaction that removes something gets them for what it has to write: its frames, the wal-index, or the journal.
//
// Invariants, on a disk with less than tightRoom where the file system can preallocate:
//
//	D1  A commit happens only after the file has blocks for its pages. So a checkpoint finds room, the log can begin again, and its own length is
//	    room for the next transactions.
//	D2  One that makes the database longer leaves the kept room as it is, unless its transaction has called UseReserve.
//	D3  Blocks beyond the end are given back only by a process that nothing can make the file longer next to: the holder of CHECKPOINT, of
//	    RESERVED in rollback mode, or of EXCLUSIVE.
//
// All of it is best effort where others are at work: another program that checkpoints the log gives the room back.
type roomKeeper struct {
	left int64       // bytes that may be committed before the disk is looked at again; of who commits a group
	full atomic.Bool // the disk was full: it is taken for tight from then on
	lent atomic.Bool // the room is in use, or a commit frees more: it is to be returned
}

const (
	keptRoom  = 256 << 10 // bytes beyond the end of the file
	leastRoom = 32 << 10
	tightRoom = 64 << 20 // a disk with less free is tight
	shortRoom = 1 << 20  // a disk with less free is full: what a transaction frees goes back to it at once
	roomLook  = 16 << 20 // how much may be committed between two looks
)

// A disk is a file that knows its file system.
type disk interface {
	Room() (bytes int64, err error)
	Preallocate(off, n int64) error
	Punch(off, n int64) error
}

// UseReserve lets the commit of this transaction use the room on the disk that is kept for removing content. It is for transactions that only
// remove: one that adds as well may take the room from the next one.
func (tx *Tx) UseReserve() { tx.reserve = true }

// ensureRoom makes sure that the file has room for the pages of a group (D1, D2). The caller is the writer.
func (db *DB) ensureRoom(base *snapshot, g *group) error {
	r := &db.room
	bytes := max(int64(len(g.pages)), int64(g.size)-int64(base.pages)) << base.shift
	if r.left -= bytes; r.left > 0 && !r.full.Load() {
		return nil
	}
	d, ok := db.file.(disk)
	if !ok {
		r.left = math.MaxInt64
		return nil
	}
	size, err := db.file.Size()
	if err != nil {
		return err
	}
	need := max(0, int64(g.size)<<base.shift-size)
	spare, ok := r.spare(d, need+bytes)
	if ok {
		r.left = min(spare/4, roomLook)
		return nil
	}
	r.left = 0
	if g.reserve && spare < shortRoom-tightRoom {
		r.lent.Store(true) // what it frees is wanted at once
	}
	err = r.fill(d, g, base.shift, size)
	if err == nil && g.size > base.pages {
		err = r.grow(d, size, need, g.reserve)
	}
	if osfile.Full(err) && !g.reserve {
		return err
	}
	return nil // the file system cannot do it, or the log takes the room, and a checkpoint waits until there is more
}

// fill gives a file of so many bytes the blocks for those pages of a group that lie in it: they may have been punched.
func (r *roomKeeper) fill(d disk, g *group, shift uint8, size int64) error {
	for i := 0; i < len(g.pages); {
		n := 1
		for i+n < len(g.pages) && g.pages[i+n].pgno == g.pages[i].pgno+uint32(n) {
			n++
		}
		off := int64(g.pages[i].pgno-1) << shift
		if end := min(off+int64(n)<<shift, size); off < end {
			if err := d.Preallocate(off, end-off); err != nil {
				return err
			}
		}
		i += n
	}
	return nil
}

// grow gives a file of so many bytes the blocks that it needs behind its end, and the kept room behind them. One that is to use that room gets as
// much as there is.
func (r *roomKeeper) grow(d disk, size, need int64, reserve bool) error {
	err := d.Preallocate(size, need+keptRoom)
	if osfile.Full(err) && reserve && need > 0 {
		err = d.Preallocate(size, need)
	}
	return err
}

// spare returns how much more than need and tightRoom the disk has free. ok is false if that is nothing, or the disk was full before.
func (r *roomKeeper) spare(d disk, need int64) (spare int64, ok bool) {
	free, err := d.Room()
	if err != nil {
		return math.MaxInt64, true // nothing is known of this disk
	}
	spare = free - need - tightRoom
	return spare, spare > 0 && !r.full.Load()
}

// keepRoom keeps room beyond the end of the database if its disk is tight. Nothing relies on it.
func (db *DB) keepRoom() {
	if d, ok := db.file.(disk); ok && !db.options.ReadOnly {
		db.room.keep(d, db.file)
	}
	db.room.lent.Store(false)
}

// keepUsedRoom is keepRoom for Close, which leaves the room alone if this DB has not used it.
func (db *DB) keepUsedRoom() {
	r := &db.room
	if db.tally.groups.Load() > 0 || r.full.Load() || r.lent.Load() {
		db.keepRoom()
	}
}

// keep gives a file blocks beyond its end, fewer if there is no room for all.
func (r *roomKeeper) keep(d disk, file interface{ Size() (int64, error) }) {
	if _, ok := r.spare(d, 0); ok {
		return
	}
	size, err := file.Size()
	for n := int64(keptRoom); err == nil && n >= leastRoom && osfile.Full(d.Preallocate(size, n)); n /= 2 {
	}
}

// lendRoom gives the disk the room back that was kept, after err, and reports whether there is something to try again. The caller sees to D3.
func (db *DB) lendRoom(err error) bool {
	return osfile.Full(err) && db.freeBlocks()
}

// freeBlocks gives the disk the blocks beyond the end of the database. The caller sees to D3.
func (db *DB) freeBlocks() bool {
	db.room.full.Store(true)
	if _, ok := db.file.(disk); !ok {
		return false
	}
	size, err := db.file.Size()
	if err != nil || db.file.Truncate(size) != nil {
		return false
	}
	db.room.lent.Store(true)
	return true
}

// lendAlone is lendRoom for one who opens the log: nobody else has the database open if it gets EXCLUSIVE. The caller holds SHARED.
func (db *DB) lendAlone(err error) bool {
	if !osfile.Full(err) || db.options.ReadOnly {
		return false
	}
	if !db.sole {
		if db.file.Lock(osfile.Exclusive, sharedByte, sharedSize) != nil {
			return false
		}
		defer func() { _ = db.file.Lock(osfile.Shared, sharedByte, sharedSize) }() // fails only with the file
	}
	return db.lendRoom(err)
}

// lendLog is lendRoom for the writer of a log.
func (db *DB) lendLog(log *wal, full error) bool {
	return osfile.Full(full) && db.failure() == nil && db.freeRoom(log)
}

// freeRoom is freeBlocks for the writer of a log.
func (db *DB) freeRoom(log *wal) (lent bool) {
	db.checkpoints.mu.Lock()
	defer db.checkpoints.mu.Unlock()
	_ = db.retry(context.Background(), func() error {
		if err := log.index.lock(osfile.Exclusive, format.WALCheckpointLock, 1); err != nil {
			return err
		}
		defer log.index.unlock(format.WALCheckpointLock, 1)
		lent = db.freeBlocks()
		return nil
	})
	return lent
}

// returnRoom takes the room back that the log was lent, or that it took before the disk became full: the log is copied and cut to nothing, if no
// reader needs it, and the database keeps room again. The caller holds the turn, and no page waits.
func (db *DB) returnRoom(log *wal, frames uint32) error {
	if err := db.recycle(log, frames); err != nil {
		return err
	}
	h, err := log.header()
	if err != nil {
		return err
	}
	if h.MaxFrame != 0 && db.writer.base.lease.slot == 0 {
		if ok, err := log.restart(&h); err != nil || !ok {
			return err
		}
		if err := log.file.Truncate(0); err != nil {
			return err
		}
		log.length = 0
		if err := db.rebase(); err != nil {
			return err
		}
		db.freeRoom(log) // what was meant for a commit that has failed
		db.punchFree()
	}
	db.keepRoom()
	return nil
}

// returnJournalRoom takes the room back that a journal was lent. The caller holds EXCLUSIVE, and has finished the journal: that has to be durable
// before anything is punched, as a journal that came back to life would make pages that are free now pages in use.
func (db *DB) returnJournalRoom(j *journal) {
	if db.options.Durability == Off || db.options.system.SyncDir(j.name) == nil {
		db.punchFree()
	}
	db.keepRoom()
}
