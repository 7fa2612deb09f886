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

// overflowAt fills p from the chain of overflow pages, off bytes into it. Every page but the last is full, so off tells how many to
// pass; the chain cannot be longer than the payload, so that a loop in it comes to an end.
func (rx *Rx) overflowAt(r *record, p []byte, off uint64) error {
	room := uint64(rx.usable - 4)
	for pgno := r.overflow; ; {
		page, err := rx.overflowPage(r, pgno)
		if err != nil {
			return err
		}
		if off < room {
			n := copy(p, page[4+off:])
			if p = p[n:]; len(p) == 0 {
				return nil
			}
			off = room
		}
		off -= room
		pgno = be32(page)
	}
}

func (rx *Rx) overflowPage(r *record, pgno uint32) ([]byte, error) {
	if pgno == 0 || pgno > rx.pages || pgno == rx.lockPage {
		return nil, rx.corrupt(r.pgno, "the overflow chain of a cell is broken")
	}
	return rx.page(pgno)
}
