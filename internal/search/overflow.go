package search

import (
	"encoding/binary"

	"github.com/foliofs/folio/internal/chain"
)

// PayloadAt fills p with the payload of r from offset off on; off + len(p) must lie within it.
func (rx *Rx) PayloadAt(r *Payload, p []byte, off uint64) error {
	if off < uint64(len(r.Local)) {
		n := copy(p, r.Local[off:])
		p, off = p[n:], off+uint64(n)
	}
	if len(p) == 0 {
		return nil
	}
	return rx.overflowAt(r, p, off-uint64(len(r.Local)))
}

// overflowAt fills p from the chain of overflow pages, off bytes into it.
func (rx *Rx) overflowAt(r *Payload, p []byte, off uint64) error {
	at := off / uint64(rx.Usable-4)
	pgno, straight, err := rx.pass(r, at)
	if err != nil {
		return err
	}
	for off %= uint64(rx.Usable - 4); ; off = 0 {
		page, err := rx.overflowPage(r, pgno)
		if err != nil {
			return err
		}
		n := copyFar(p, page[4+off:])
		if p = p[n:]; len(p) == 0 {
			break
		}
		next := binary.BigEndian.Uint32(page)
		straight = straight && next == pgno+1
		pgno = next
		at++
	}
	if straight && at >= chain.LongRun && !rx.Writing() { // in a write transaction a chain may change
		rx.Cache.Runs.Keep(r.Overflow(), at)
	}
	return nil
}

// farBlock is how many bytes copyFar copies at once.
const farBlock = 1 << 10

// copyFar is copy for a source that is neither aligned nor near in the caches: the payload of
// overflow pages. There the copy of Go for amd64 takes twice as long from 2048 bytes on.
func copyFar(dst, src []byte) (n int) {
	for len(dst) > farBlock && len(src) > farBlock {
		copy(dst[:farBlock], src)
		dst, src, n = dst[farBlock:], src[farBlock:], n+farBlock
	}
	return n + copy(dst, src)
}

// pass returns the page of a chain that comes n pages after its first, and whether these follow
// each other in the file. Every page but the last is full, so that an offset tells n; the chain
// cannot be longer than the payload, so that a loop in it comes to an end.
func (rx *Rx) pass(r *Payload, n uint64) (pgno uint32, straight bool, err error) {
	if n >= chain.LongRun && !rx.Writing() && rx.Cache.Runs.Length(r.Overflow()) >= n {
		return r.Overflow() + uint32(n), true, nil
	}
	straight = true
	pgno = r.Overflow()
	for range n {
		page, err := rx.overflowPage(r, pgno)
		if err != nil {
			return 0, false, err
		}
		if next := binary.BigEndian.Uint32(page); next != pgno+1 {
			straight, pgno = false, next
		} else {
			pgno++ // and not next: so that the processor looks at the following pages before it has seen this one
		}
	}
	return pgno, straight, nil
}

func (rx *Rx) overflowPage(r *Payload, pgno uint32) ([]byte, error) {
	if pgno == 0 || pgno > rx.PageCount || pgno == rx.LockPage {
		return nil, rx.Corrupt(r.Pgno, "the overflow chain of a cell is broken")
	}
	return rx.Page(pgno)
}

// ExtentAt fills p from an extent, off bytes from the start of its chain.
func (rx *Rx) ExtentAt(e *chain.Extent, p []byte, off uint64) error {
	room := uint64(rx.Usable - 4)
	for pgno := e.First + uint32(off/room); ; pgno++ {
		page, err := rx.Page(pgno)
		if err != nil {
			return err
		}
		n := copyFar(p, page[4+off%room:])
		if p = p[n:]; len(p) == 0 {
			return nil
		}
		off += uint64(n)
	}
}

// OverflowRuns calls fn with runs of the overflow pages that hold the payload of r up to the given
// size: the first page of the run, and how many follow each other.
func (rx *Rx) OverflowRuns(r *Payload, size uint64, fn func(first uint32, n int)) error {
	size = min(size, uint64(r.Size))
	if r.Overflow() == 0 || size <= uint64(len(r.Local)) {
		return nil
	}
	left := int((size - uint64(len(r.Local)) + uint64(rx.Usable-4) - 1) / uint64(rx.Usable-4))
	if known := int(rx.Cache.Runs.Length(r.Overflow())) + 1; known >= left {
		fn(r.Overflow(), left)
		return nil
	}
	first, n := r.Overflow(), 0
	for pgno := r.Overflow(); left > 0; left-- {
		if pgno != first+uint32(n) {
			fn(first, n)
			first, n = pgno, 0
		}
		n++
		page, err := rx.overflowPage(r, pgno)
		if err != nil {
			return err
		}
		pgno = binary.BigEndian.Uint32(page)
	}
	fn(first, n)
	return nil
}
