package sqlitefile

import "encoding/binary"

func be32(b []byte) uint32 { return binary.BigEndian.Uint32(b) }

// payloadAt fills p with the payload of r from offset off on; off + len(p) must lie within it.
func (rx *Rx) payloadAt(r *record, p []byte, off uint64) error {
	if off < uint64(len(r.local)) {
		n := copy(p, r.local[off:])
		p, off = p[n:], off+uint64(n)
	}
	if len(p) == 0 {
		return nil
	}
	return rx.overflowAt(r, p, off-uint64(len(r.local)))
}

// overflowAt fills p from the chain of overflow pages, off bytes into it.
func (rx *Rx) overflowAt(r *record, p []byte, off uint64) error {
	at := off / uint64(rx.usable-4)
	pgno, straight, err := rx.pass(r, at)
	if err != nil {
		return err
	}
	for off %= uint64(rx.usable - 4); ; off = 0 {
		page, err := rx.overflowPage(r, pgno)
		if err != nil {
			return err
		}
		n := copyFar(p, page[4+off:])
		if p = p[n:]; len(p) == 0 {
			break
		}
		next := be32(page)
		straight = straight && next == pgno+1
		pgno = next
		at++
	}
	if straight && at >= longRun && rx.changed == nil { // in a write transaction a chain may change
		rx.cache.runs.keep(r.overflow, at)
	}
	return nil
}

// farBlock is how many bytes copyFar copies at once.
const farBlock = 1 << 10

// copyFar is copy for a source that is neither aligned nor near in the caches: the payload of overflow pages. There the copy of Go for amd64 takes
// twice as long from 2048 bytes on.
func copyFar(dst, src []byte) (n int) {
	for len(dst) > farBlock && len(src) > farBlock {
		copy(dst[:farBlock], src)
		dst, src, n = dst[farBlock:], src[farBlock:], n+farBlock
	}
	return n + copy(dst, src)
}

// pass returns the page of a chain that comes n pages after its first, and whether these follow each other in the file. Every page but the last is
// full, so that an offset tells n; the chain cannot be longer than the payload, so that a loop in it comes to an end.
func (rx *Rx) pass(r *record, n uint64) (pgno uint32, straight bool, err error) {
	if n >= longRun && rx.changed == nil && rx.cache.runs.length(r.overflow) >= n {
		return r.overflow + uint32(n), true, nil
	}
	straight = true
	pgno = r.overflow
	for range n {
		page, err := rx.overflowPage(r, pgno)
		if err != nil {
			return 0, false, err
		}
		if next := be32(page); next != pgno+1 {
			straight, pgno = false, next
		} else {
			pgno++ // and not next: so that the processor looks at the following pages before it has seen this one
		}
	}
	return pgno, straight, nil
}

func (rx *Rx) overflowPage(r *record, pgno uint32) ([]byte, error) {
	if pgno == 0 || pgno > rx.pages || pgno == rx.lockPage {
		return nil, rx.corrupt(r.pgno, "the overflow chain of a cell is broken")
	}
	return rx.page(pgno)
}
