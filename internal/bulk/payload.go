package bulk

import (
	"encoding/binary"

	"github.com/foliofs/folio/internal/invariant"
)

// A Payload writes one payload of known size: the first part into its cell, the rest into a chain
// of overflow pages, each of which is filled and gone before the next begins.
//
//	cell:           ... first part, 4 bytes number of the first overflow page
//	overflow page:  4 bytes number of the next one, or 0; payload
//
// Pages are handed out in order. So the number of the next page is known before it is made,
// provided that no other code asks for one in between.
type Payload struct {
	out  *File  // nil if there is no overflow
	Dst  []byte // the free rest of the present place
	left int    // bytes of the payload that come after dst
}

// NewPayload starts a payload of size bytes in a cell, which has room for local of them and, if
// that is not all, the number of a page.
func NewPayload(out *File, cell []byte, local, size int) Payload {
	if size > local {
		binary.BigEndian.PutUint32(cell[local:], out.Next)
	}
	return Payload{out: out, Dst: cell[:local], left: size - local}
}

// Write appends b to the payload. It keeps nothing of b.
func (w *Payload) Write(b []byte) error {
	for {
		n := copy(w.Dst, b)
		w.Dst = w.Dst[n:]
		b = b[n:]
		if len(b) == 0 {
			return nil
		}
		if err := w.overflow(); err != nil {
			return err
		}
	}
}

// Done checks that the payload had the size that was announced.
func (w *Payload) Done() {
	invariant.Check(len(w.Dst) == 0 && w.left == 0, "%d bytes missing from a payload", len(w.Dst)+w.left)
}

// overflow starts the next overflow page.
func (w *Payload) overflow() error {
	invariant.Check(w.left > 0, "a payload is longer than announced")
	_, page, err := w.out.Page()
	if err != nil {
		return err
	}
	n := min(w.left, len(page)-4)
	w.left -= n
	link := uint32(0)
	if w.left > 0 {
		link = w.out.Next
	}
	binary.BigEndian.PutUint32(page, link)
	clear(page[4+n:])
	w.Dst = page[4 : 4+n]
	return nil
}
