// Package reserve keeps disk space for a database on a disk that is nearly full, so that content
// can be removed even when the disk is full to the last block.
//
// The reserve is blocks of the disk that belong to the database file, beyond its end: its
// size does not change, and no other program sees them. A transaction that removes something gets
// them for the bytes that it must write: its frames, the wal-index, or the journal.
//
// Invariants, on a disk with less than 64 MiB free where the file system can preallocate:
//
//	D1  A commit happens only after the file has blocks for its pages. So a checkpoint finds space,
//	    the log can begin again, and its own length is space for the next transactions.
//	D2  A commit that makes the database longer leaves the reserve as it is, unless its transaction
//	    may use it (pager.Tx.UseReserve).
//	D3  Blocks beyond the end are given back only by a process that nothing can make the file longer
//	    next to: the holder of CHECKPOINT, of RESERVED in rollback mode, or of EXCLUSIVE.
//	D4  In rollback mode the file has blocks for every page whose content the journal saves, before
//	    it saves it. So rolling back needs no space.
//
// All of it is best effort where other programs are at work: another program that checkpoints the
// log gives the reserve back.
package reserve

import (
	"math"
	"sync/atomic"

	"github.com/foliofs/folio/internal/btree"
	"github.com/foliofs/folio/internal/osfile"
)

// A Reserve is the disk space that is kept for one database file. Its zero value with a File is
// ready for use. Methods are safe for concurrent use, except Covers, Ensure and Fill, which belong
// to the goroutine that commits.
type Reserve struct {
	File     *osfile.Handle // of the database; the owner may exchange it while no method runs
	ReadOnly bool           // the file cannot be written
	End      func() int64   // how long the database is with the pages that are in the log alone; nil if there is no log

	left int64       // bytes that may be committed before the disk is looked at again
	full atomic.Bool // the disk was full: it counts as tight from then on
	lent atomic.Bool // the reserve is in use, or a commit frees more: it must be returned
}

const (
	Size = 256 << 10 // bytes beyond the end of the file

	least = 32 << 10
	tight = 64 << 20 // a disk with less free is tight
	short = 1 << 20  // a disk with less free is full: the space that a transaction frees goes back to it at once
	look  = 16 << 20 // how much may be committed between two looks
)

func (r *Reserve) disk() (osfile.Disk, bool) {
	d, ok := (*r.File).(osfile.Disk)
	return d, ok
}

// A Commit is about to be written.
type Commit struct {
	Pgnos         []uint32 // of its pages, in order
	Before, After uint32   // pages of the database
	PageShift     uint8    // log2 of the page size
	Bytes         int64    // that were given to Covers
	Removes       bool     // it may use the reserve
}

// Covers reports whether a commit of so many bytes needs no look at the disk: it was roomy at the
// last look, and less than a part of it was committed since.
func (r *Reserve) Covers(bytes int64) bool {
	r.left -= bytes
	return r.left > 0 && !r.full.Load()
}

// Ensure looks at the disk, and sees to it that the file has blocks for a commit (D1, D2) if the
// disk is tight.
func (r *Reserve) Ensure(c *Commit) (isTight bool, err error) {
	d, ok := r.disk()
	if !ok {
		r.left = math.MaxInt64
		return false, nil
	}
	size, err := (*r.File).Size()
	if err != nil {
		return false, err
	}
	need := max(0, int64(c.After)<<c.PageShift-size)
	spare, ok := r.spare(d, need+c.Bytes)
	if ok {
		r.left = min(spare/4, look)
		return false, nil
	}
	r.left = 0
	if c.Removes && spare < short-tight {
		r.lent.Store(true) // the space that it frees is needed at once
	}
	err = fillPages(d, c.Pgnos, c.PageShift, size)
	if err == nil && c.After > c.Before {
		err = grow(d, size, need, c.Removes)
	}
	if osfile.Full(err) && !c.Removes {
		return true, err
	}
	return true, nil // the file system cannot do it, or the log takes the space, and a checkpoint waits until there is more
}

// Fill gives the file blocks for pages whose content goes into the journal (D4).
func (r *Reserve) Fill(pgnos []uint32, shift uint8) error {
	d, ok := r.disk()
	if !ok || r.left > 0 && !r.full.Load() {
		return nil
	}
	if _, ok := r.spare(d, 0); ok {
		return nil
	}
	size, err := (*r.File).Size()
	if err != nil {
		return err
	}
	if err := fillPages(d, pgnos, shift, size); osfile.Full(err) {
		return err
	}
	return nil // the file system cannot do it
}

// fillPages gives a file of so many bytes the blocks for the pages within it: they may have been
// punched.
func fillPages(d osfile.Disk, pgnos []uint32, shift uint8, size int64) error {
	for first, n := range runs(pgnos) {
		off := int64(first-1) << shift
		if end := min(off+n<<shift, size); off < end {
			if err := d.Preallocate(off, end-off); err != nil {
				return err
			}
		}
	}
	return nil
}

// runs yields the first number and the length of each run of numbers that follow each other.
func runs(pgnos []uint32) func(yield func(first uint32, n int64) bool) {
	return func(yield func(first uint32, n int64) bool) {
		for len(pgnos) > 0 {
			n := 1
			for n < len(pgnos) && pgnos[n] == pgnos[0]+uint32(n) {
				n++
			}
			if !yield(pgnos[0], int64(n)) {
				return
			}
			pgnos = pgnos[n:]
		}
	}
}

// grow gives a file of so many bytes the blocks that it needs behind its end, and the reserve
// behind them. If removes is true, the file may take the reserve as well.
func grow(d osfile.Disk, size, need int64, removes bool) error {
	err := d.Preallocate(size, need+Size)
	if osfile.Full(err) && removes && need > 0 {
		err = d.Preallocate(size, need)
	}
	return err
}

// spare returns how much more than need and 64 MiB the disk has free. ok is false if that is
// nothing, or the disk was full before.
func (r *Reserve) spare(d osfile.Disk, need int64) (spare int64, ok bool) {
	free, err := d.FreeSpace()
	if err != nil {
		return math.MaxInt64, true // nothing is known of this disk
	}
	spare = free - need - tight
	return spare, spare > 0 && !r.full.Load()
}

// Refill keeps a reserve if the disk is tight, and ends Free. Nothing relies on it.
func (r *Reserve) Refill() {
	r.Keep()
	r.lent.Store(false)
}

// Keep gives the file blocks beyond its end if its disk is tight, fewer if there is no space for
// all. It is also for a file that was cut: cutting it gave the disk all blocks behind the new end,
// including the reserve. The reserve may be in use meanwhile.
func (r *Reserve) Keep() {
	d, ok := r.disk()
	if !ok || r.ReadOnly {
		return
	}
	if _, ok := r.spare(d, 0); ok {
		return
	}
	size, err := (*r.File).Size()
	need := r.uncopied(size)
	for n := int64(Size); err == nil && n >= least && osfile.Full(d.Preallocate(size, need+n)); n /= 2 {
	}
}

// Keep keeps a reserve for a file that is not a database yet.
func Keep(file osfile.Handle) { (&Reserve{File: &file}).Keep() }

// Cut makes the file size bytes long, and keeps a reserve beyond its new end.
func (r *Reserve) Cut(size int64) error {
	if err := (*r.File).Truncate(size); err != nil {
		return err
	}
	r.Keep()
	return nil
}

// uncopied returns how many bytes longer than size the database is, because its last pages are in
// the log alone.
func (r *Reserve) uncopied(size int64) int64 {
	if r.End == nil {
		return 0
	}
	return max(0, r.End()-size)
}

// SetFull says that the disk was found to be full.
func (r *Reserve) SetFull() { r.full.Store(true) }

// Lent reports whether Refill must be called once the space can be taken back.
func (r *Reserve) Lent() bool { return r.lent.Load() }

// Used reports whether the disk was full, or the reserve is in use.
func (r *Reserve) Used() bool { return r.full.Load() || r.lent.Load() }

// Free gives the disk the blocks beyond the end of the database, except the ones that a checkpoint
// needs (D1). It reports whether there is more space now. The caller must see to D3.
func (r *Reserve) Free() bool {
	r.SetFull()
	d, ok := r.disk()
	if !ok {
		return false
	}
	size, err := (*r.File).Size()
	if err != nil || (*r.File).Truncate(size) != nil {
		return false
	}
	r.lent.Store(true)
	need := r.uncopied(size)
	return need == 0 || d.Preallocate(size, need) == nil ||
		(*r.File).Truncate(size) == nil // it never had them: the log takes the space, and a checkpoint waits
}

// Punch gives a tight disk the blocks of the free pages of the database. Their content means
// nothing: readers never look at the leaves of the freelist. The next commit that uses such a page
// must find space for it (Ensure).
//
// The caller must see to it that the file alone has everything, and that every reader reads the
// newest state: in an older one the pages may be in use.
func (r *Reserve) Punch() {
	d, ok := r.disk()
	if !ok || r.ReadOnly {
		return
	}
	if _, roomy := r.spare(d, 0); roomy {
		return
	}
	size, err := (*r.File).Size()
	if err != nil {
		return
	}
	free, pageSize := btree.FreeLeaves(*r.File, size)
	for first, n := range runs(free) {
		if d.Punch(int64(first-1)*pageSize, n*pageSize) != nil {
			return
		}
	}
}
