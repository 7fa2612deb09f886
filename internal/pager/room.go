package pager

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/foliofs/folio/internal/btree"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/wal"
)

// A RoomKeeper keeps room for a database on a disk that is nearly full, so that content can be
// removed even when it is full to the last block.
//
// The room is blocks of the disk that belong to the database file and lie beyond its end: its size
// does not change, and no other program sees them. A transaction that removes something gets them
// for the bytes that it must write: its frames, the wal-index, or the journal.
//
// Invariants, on a disk with less than tightRoom where the file system can preallocate:
//
//	D1  A commit happens only after the file has blocks for its pages. So a checkpoint finds room,
//	    the log can begin again, and its own length is room for the next transactions.
//	D2  One that makes the database longer leaves the kept room as it is, unless its transaction has
//	    called UseReserve.
//	D3  Blocks beyond the end are given back only by a process that nothing can make the file longer
//	    next to: the holder of CHECKPOINT, of RESERVED in rollback mode, or of EXCLUSIVE.
//	D4  In rollback mode the file has blocks for every page whose content the journal saves, before
//	    it saves it. So rolling back needs no room.
//
// All of it is best effort where other programs are at work: another program that checkpoints the
// log gives the room back.
type RoomKeeper struct {
	pager *Pager      // nil for a file that is being built
	left  int64       // bytes that may be committed before the disk is looked at again; of who commits a group
	full  atomic.Bool // the disk was full: it is taken for tight from then on
	lent  atomic.Bool // the room is in use, or a commit frees more: it must be returned
}

const (
	KeptRoom  = 256 << 10 // bytes beyond the end of the file
	leastRoom = 32 << 10
	tightRoom = 64 << 20 // a disk with less free is tight
	shortRoom = 1 << 20  // a disk with less free is full: the room that a transaction frees goes back to it at once
	roomLook  = 16 << 20 // how much may be committed between two looks
)

// A disk is a file that knows its file system.
type disk interface {
	Room() (bytes int64, err error)
	Preallocate(off, n int64) error
	Punch(off, n int64) error
}

// UseReserve lets the commit of this transaction use the room that is kept for removing.
func (tx *Tx) UseReserve() { tx.reserve = true }

// RequireSync lets this transaction survive the failures that DurabilityFull names, though
// Options.Durability is DurabilityNormal. Transactions that are committed with it share the sync.
func (tx *Tx) RequireSync() { tx.synced = true }

// ensureRoom makes sure that the file has room for the pages of a group (D1, D2). The caller is the
// writer.
func (k *RoomKeeper) ensureRoom(base *Snapshot, g *group) error {
	bytes := max(int64(len(g.pages)), int64(g.size)-int64(base.PageCount)) << base.PageShift
	if k.left -= bytes; k.left > 0 && !k.full.Load() {
		return nil
	}
	d, ok := k.pager.file.(disk)
	if !ok {
		k.left = math.MaxInt64
		return nil
	}
	size, err := k.pager.file.Size()
	if err != nil {
		return err
	}
	need := max(0, int64(g.size)<<base.PageShift-size)
	spare, ok := k.spare(d, need+bytes)
	if base.wal != nil {
		base.wal.Tight = !ok
	}
	if ok {
		k.left = min(spare/4, roomLook)
		return nil
	}
	k.left = 0
	if g.reserve && spare < shortRoom-tightRoom {
		k.lent.Store(true) // the room that it frees is needed at once
	}
	err = k.fillPages(d, g.numbers(), base.PageShift, size)
	if err == nil && g.size > base.PageCount {
		err = k.grow(d, size, need, g.reserve)
	}
	if osfile.Full(err) && !g.reserve {
		return err
	}
	return nil // the file system cannot do it, or the log takes the room, and a checkpoint waits until there is more
}

// fillOriginals gives the file blocks for pages whose content goes into the journal (D4).
func (k *RoomKeeper) fillOriginals(pgnos []uint32, shift uint8) error {
	d, ok := k.pager.file.(disk)
	if !ok || k.left > 0 && !k.full.Load() {
		return nil
	}
	if _, ok := k.spare(d, 0); ok {
		return nil
	}
	size, err := k.pager.file.Size()
	if err != nil {
		return err
	}
	if err := k.fillPages(d, pgnos, shift, size); osfile.Full(err) {
		return err
	}
	return nil // the file system cannot do it
}

// numbers returns the numbers of the pages of a sealed group.
func (g *group) numbers() []uint32 {
	pgnos := make([]uint32, len(g.pages))
	for i := range g.pages {
		pgnos[i] = g.pages[i].Pgno
	}
	return pgnos
}

// fillPages gives a file of so many bytes the blocks for the pages within it: they may have been
// punched.
func (k *RoomKeeper) fillPages(d disk, pgnos []uint32, shift uint8, size int64) error {
	for len(pgnos) > 0 {
		n := 1
		for n < len(pgnos) && pgnos[n] == pgnos[0]+uint32(n) {
			n++
		}
		off := int64(pgnos[0]-1) << shift
		if end := min(off+int64(n)<<shift, size); off < end {
			if err := d.Preallocate(off, end-off); err != nil {
				return err
			}
		}
		pgnos = pgnos[n:]
	}
	return nil
}

// grow gives a file of so many bytes the blocks that it needs behind its end, and the kept room
// behind them. If reserve is true, the file may take that room as well.
func (k *RoomKeeper) grow(d disk, size, need int64, reserve bool) error {
	err := d.Preallocate(size, need+KeptRoom)
	if osfile.Full(err) && reserve && need > 0 {
		err = d.Preallocate(size, need)
	}
	return err
}

// spare returns how much more than need and tightRoom the disk has free. ok is false if that is
// nothing, or the disk was full before.
func (k *RoomKeeper) spare(d disk, need int64) (spare int64, ok bool) {
	free, err := d.Room()
	if err != nil {
		return math.MaxInt64, true // nothing is known of this disk
	}
	spare = free - need - tightRoom
	return spare, spare > 0 && !k.full.Load()
}

// keepRoom keeps room beyond the end of the database if its disk is tight. Nothing relies on it.
func (k *RoomKeeper) keepRoom() {
	k.keepAfterCut()
	k.lent.Store(false)
}

// keepAfterCut keeps room beyond the new end of a file that was cut: cutting it gave the disk all
// blocks behind that end, including the reserve. The reserve may be lent meanwhile.
func (k *RoomKeeper) keepAfterCut() {
	if d, ok := k.pager.file.(disk); ok && !k.pager.options.ReadOnly {
		k.Keep(d, k.pager.file)
	}
}

// keepUsedRoom is keepRoom for Close, which leaves the room alone if this pager has not used it.
func (k *RoomKeeper) keepUsedRoom() {
	if k.pager.tally.groups.Load() > 0 || k.full.Load() || k.lent.Load() {
		k.keepRoom()
	}
}

// Keep gives a file blocks beyond its end, fewer if there is no room for all.
func (k *RoomKeeper) Keep(d disk, file interface{ Size() (int64, error) }) {
	if _, ok := k.spare(d, 0); ok {
		return
	}
	size, err := file.Size()
	need := k.uncopied(size)
	for n := int64(KeptRoom); err == nil && n >= leastRoom && osfile.Full(d.Preallocate(size, need+n)); n /= 2 {
	}
}

// uncopied returns how many bytes longer than size the database is, because its last pages lie in
// the log alone.
func (k *RoomKeeper) uncopied(size int64) int64 {
	if k.pager == nil {
		return 0
	}
	s := k.pager.snapshot.Load()
	if s == nil {
		return 0
	}
	return max(0, int64(s.PageCount)<<s.PageShift-size)
}

// lendRoom gives the disk the room back that was kept, after err, and reports whether there is
// something to try again: nothing is, after a sync that has failed. The caller sees to D3.
func (k *RoomKeeper) lendRoom(err error) bool {
	return osfile.Full(err) && k.pager.failure() == nil && k.freeBlocks()
}

// freeBlocks gives the disk the blocks beyond the end of the database, but for those that a
// checkpoint needs (D1). The caller sees to D3.
func (k *RoomKeeper) freeBlocks() bool {
	k.full.Store(true)
	d, ok := k.pager.file.(disk)
	if !ok {
		return false
	}
	size, err := k.pager.file.Size()
	if err != nil || k.pager.file.Truncate(size) != nil {
		return false
	}
	k.lent.Store(true)
	need := k.uncopied(size)
	return need == 0 || d.Preallocate(size, need) == nil ||
		k.pager.file.Truncate(size) == nil // it never had them: the log takes the room, and a checkpoint waits
}

// lendAlone is lendRoom for a caller that opens the log: no other connection holds the database
// open if it gets EXCLUSIVE. The caller must hold SHARED.
func (k *RoomKeeper) lendAlone(err error) bool {
	if !osfile.Full(err) || k.pager.options.ReadOnly {
		return false
	}
	if !k.pager.sole {
		if k.pager.file.Lock(osfile.Exclusive, format.SharedByte, format.SharedSize) != nil {
			return false
		}
		defer func() { _ = k.pager.file.Lock(osfile.Shared, format.SharedByte, format.SharedSize) }() // fails only with the file
	}
	return k.lendRoom(err)
}

// lendLog is lendRoom for the writer of a log.
func (k *RoomKeeper) lendLog(log *wal.Log, full error) bool {
	return osfile.Full(full) && k.pager.failure() == nil && k.freeRoom(log)
}

// freeRoom is freeBlocks for the writer of a log.
func (k *RoomKeeper) freeRoom(log *wal.Log) (lent bool) {
	k.pager.checkpoints.mu.Lock()
	defer k.pager.checkpoints.mu.Unlock()
	_ = k.pager.retry(context.Background(), func() error {
		if err := log.Index.Lock(osfile.Exclusive, format.WALCheckpointLock, 1); err != nil {
			return err
		}
		defer log.Index.Unlock(format.WALCheckpointLock, 1)
		lent = k.freeBlocks()
		return nil
	})
	return lent
}

// returnRoom takes the room back that the log was lent, or that it took before the disk became
// full: the log is copied and cut to nothing, if no reader needs it, and the database keeps room
// again. The caller must hold the write lock, and no page waits.
func (k *RoomKeeper) returnRoom(log *wal.Log, frames uint32) error {
	if err := k.pager.checkpoints.recycle(log, frames); err != nil {
		return err
	}
	h, err := log.Header()
	if err != nil {
		return err
	}
	if h.MaxFrame != 0 && k.pager.writer.base.lease.Slot == 0 {
		if ok, err := log.Restart(&h); err != nil || !ok {
			return err
		}
		if err := log.File.Truncate(0); err != nil {
			return err
		}
		log.Length = 0
		if err := k.pager.checkpoints.rebase(); err != nil {
			return err
		}
		k.freeRoom(log) // the room for a commit that has failed
		k.punchFree()
	}
	k.keepRoom()
	return nil
}

// returnJournalRoom takes the room back that a journal was lent. The caller must hold EXCLUSIVE,
// and has finished the journal: that must be durable before anything is punched, as a journal that
// came back to life would make pages that are free now pages in use.
func (k *RoomKeeper) returnJournalRoom(j *journal) {
	if k.pager.options.Durability == DurabilityOff || k.pager.options.System.SyncDir(j.name) == nil {
		k.punchFree()
	}
	k.keepRoom()
}

// punchFree gives a tight disk the blocks of the free pages of the database. Their content means
// nothing: readers never look at the leaves of the freelist. The next commit that uses such a page
// must find room for it (ensureRoom).
//
// The caller must see to it that the file alone has everything, and that every reader reads the
// newest state: in an older one the pages may be in use.
func (k *RoomKeeper) punchFree() {
	d, ok := k.pager.file.(disk)
	if !ok || k.pager.options.ReadOnly {
		return
	}
	if _, spare := k.spare(d, 0); spare {
		return
	}
	free, pageSize := k.freeLeaves()
	for len(free) > 0 {
		n := 1
		for n < len(free) && free[n] == free[0]+uint32(n) {
			n++
		}
		if d.Punch(int64(free[0]-1)*pageSize, int64(n)*pageSize) != nil {
			return
		}
		free = free[n:]
	}
}

// freeLeaves returns the leaves of the freelist in the file.
func (k *RoomKeeper) freeLeaves() (free []uint32, pageSize int64) {
	size, err := k.pager.file.Size()
	if err != nil {
		return nil, 0
	}
	return btree.FreeLeaves(k.pager.file, size)
}
