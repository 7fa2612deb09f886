package sqlitefile

import (
	"encoding/binary"

	"github.com/foliofs/folio/internal/invariant"
)

// A payloadWriter writes one payload of known size: the first part into its cell, the rest into a chain of overflow pages,
// each of which is filled and gone before the next begins.
//
//	cell:           ... first part, 4 bytes number of the first overflow page
//	overflow page:  4 bytes number of the next one, or 0; payload
//
// As pages are handed out in order, the number of the next page is known before it is made, provided that nobody else asks
// for one in between.
type payloadWriter struct {
	out  *outFile // nil where there is no overflow
	dst  []byte   // what is still free of the present place
	left int      // bytes of the payload that come after dst
}

// newPayloadWriter starts a payload of size bytes in a cell, which has room for local of them and, if that is not all, the
// number of a page.
func newPayloadWriter(out *outFile, cell []byte, local, size int) payloadWriter {
	if size > local {
		binary.BigEndian.PutUint32(cell[local:], out.next)
	}
	return payloadWriter{out: out, dst: cell[:local], left: size - local}
}

// write appends b to the payload. It keeps nothing of b.
func (w *payloadWriter) write(b []byte) error {
	for {
		n := copy(w.dst, b)
		w.dst = w.dst[n:]
		b = b[n:]
		if len(b) == 0 {
			return nil
		}
		if err := w.overflow(); err != nil {
			return err
		}
	}
}

// done checks that the payload had the size that was announced.
func (w *payloadWriter) done() {
	invariant.Check(len(w.dst) == 0 && w.left == 0, "%d bytes missing from a payload", len(w.dst)+w.left)
}

// overflow starts the next overflow page.
func (w *payloadWriter) overflow() error {
	invariant.Check(w.left > 0, "a payload is longer than announced")
	_, page, err := w.out.page()
	if err != nil {
		return err
	}
	n := min(w.left, len(page)-4)
	w.left -= n
	link := uint32(0)
	if w.left > 0 {
		link = w.out.next
	}
	binary.BigEndian.PutUint32(page, link)
	clear(page[4+n:])
	w.dst = page[4 : 4+n]
	return nil
}
