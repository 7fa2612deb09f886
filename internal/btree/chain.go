package btree

import (
	"bytes"
	"encoding/binary"

	"github.com/foliofs/folio/internal/format"
)

const FaultChain = "the overflow chain of a cell is broken"

// overflowPages returns how many overflow pages the payload of a cell takes.
func (w *Workspace) overflowPages(c *format.Cell) int {
	size, local, room := int(c.Payload), len(c.Local), w.usable-4
	return (size - local + room - 1) / room
}

// overflowOf returns the first overflow page of a cell that holds a payload, given without its
// child; 0 if it has none.
func overflowOf(body []byte, spill *format.Spill) uint32 {
	size, m := format.Varint(body)
	if m == 0 || size <= uint64(spill.Max()) {
		return 0
	}
	return Be32(body[len(body)-4:])
}

// A partReader hands out the bytes of a payload in parts, piece by piece.
type partReader struct {
	parts [][]byte
	off   int // in the first part
}

// next returns the following n bytes, or fewer when a part ends.
func (r *partReader) next(n int) []byte {
	for len(r.parts) > 0 {
		if part := r.parts[0][r.off:]; len(part) > 0 {
			n = min(n, len(part))
			r.off += n
			return part[:n]
		}
		r.parts, r.off = r.parts[1:], 0
	}
	return nil
}

func (r *partReader) skip(n int) {
	for n > 0 {
		n -= len(r.next(n))
	}
}

// differs reports whether the following bytes, which stay where they are, differ from b.
func (r partReader) differs(b []byte) bool {
	for len(b) > 0 {
		p := r.next(len(b))
		if !bytes.Equal(p, b[:len(p)]) {
			return true
		}
		b = b[len(p):]
	}
	return false
}

// WriteChain writes the part of e that is not in its cell, in page near, to a chain of
// overflow pages and returns the first one, or 0 if there is nothing to write. The chain of the
// cell that e replaces is used as far as it goes, and a page of it that stays as it is is not
// touched.
//
//	overflow page:  4 bytes number of the next one, or 0; payload
func (t *Tree) WriteChain(e *entry, local int, near uint32, old format.Cell) (first uint32, err error) {
	left := e.size - local
	if left == 0 && old.Overflow == 0 {
		return 0, nil
	}
	r := partReader{parts: e.parts}
	r.skip(local)
	chain := chainWriter{t: t, old: old.Overflow, last: near}
	if old.Overflow != 0 {
		chain.oldPages = t.Ws.overflowPages(&old)
	}
	for left > 0 {
		n := min(left, t.Ws.usable-4)
		if err := chain.add(&r, n); err != nil {
			return 0, err
		}
		left -= n
	}
	return chain.first, chain.end()
}

// A chainWriter writes the pages of a chain, one behind another.
//
//	H1  The first oldPages pages of the chain that old begins with are still to be used or released.
//	H2  last is the page written last; or, while first is 0, any page near which to begin.
type chainWriter struct {
	t           *Tree
	first, last uint32
	old         uint32
	oldPages    int
}

// add writes the next n bytes to one more page.
func (w *chainWriter) add(r *partReader, n int) error {
	pgno, page, err := w.page(*r, n)
	if err != nil {
		return err
	}
	if page != nil {
		for p := page[4 : 4+n]; len(p) > 0; {
			p = p[copy(p, r.next(len(p))):]
		}
	} else {
		r.skip(n)
	}
	if w.first == 0 {
		w.first = pgno
	} else if err := w.link(pgno); err != nil {
		return err
	}
	w.last = pgno
	return nil
}

// page returns the next page to write n bytes to, which is writable, unless it already holds them:
// then there is no page (H2).
func (w *chainWriter) page(r partReader, n int) (pgno uint32, page []byte, err error) {
	store := w.t.store
	if w.oldPages == 0 {
		pgno, page, err = store.Allocate(w.last)
		return pgno, page, err
	}
	if pgno, page, err = w.takeOld(); err != nil {
		return 0, nil, err
	}
	if !r.differs(page[4 : 4+n]) {
		return pgno, nil, nil
	}
	page, err = w.t.writable(pgno)
	return pgno, page, err
}

// takeOld takes the next page of the old chain (H1).
func (w *chainWriter) takeOld() (pgno uint32, page []byte, err error) {
	pgno = w.old
	if err := w.t.checkChain(pgno); err != nil {
		return 0, nil, err
	}
	if page, err = w.t.store.Page(pgno); err != nil {
		return 0, nil, err
	}
	w.old = Be32(page)
	w.oldPages--
	return pgno, page, nil
}

// link lets the page written last lead to pgno.
func (w *chainWriter) link(pgno uint32) error {
	page, err := w.t.store.Page(w.last)
	if err != nil {
		return err
	}
	if Be32(page) != pgno {
		if page, err = w.t.writable(w.last); err != nil {
			return err
		}
		binary.BigEndian.PutUint32(page, pgno)
	}
	return w.t.store.Linked(pgno, w.last, format.PointerChain)
}

// end ends the chain and releases the rest of the old one.
func (w *chainWriter) end() error {
	if w.first != 0 {
		page, err := w.t.store.Page(w.last)
		if err == nil && Be32(page) != 0 {
			if page, err = w.t.writable(w.last); err == nil {
				clear(page[:4])
			}
		}
		if err != nil {
			return err
		}
	}
	return w.t.freePages(w.old, w.oldPages)
}

// freeChain releases the overflow pages of a cell.
func (t *Tree) freeChain(c *format.Cell) error {
	if c.Overflow == 0 {
		return nil
	}
	return t.freePages(c.Overflow, t.Ws.overflowPages(c))
}

// freePages releases a chain of as many pages from pgno on.
func (t *Tree) freePages(pgno uint32, pages int) error {
	for ; pages > 0; pages-- {
		if err := t.checkChain(pgno); err != nil {
			return err
		}
		next := uint32(0)
		if pages > 1 {
			page, err := t.store.Page(pgno)
			if err != nil {
				return err
			}
			next = Be32(page)
		}
		if err := t.store.Release(pgno); err != nil {
			return err
		}
		pgno = next
	}
	return nil
}

// checkChain refuses a page that cannot be an overflow page of the entry that the path leads to.
func (t *Tree) checkChain(pgno uint32) error {
	if pgno < 2 || pgno > t.store.PageCount() {
		return t.store.Corrupt(t.Steps[t.Depth].Pgno, FaultChain)
	}
	for level := range t.Depth + 1 {
		if t.Steps[level].Pgno == pgno {
			return t.store.Corrupt(pgno, FaultChain)
		}
	}
	return nil
}

// appendPayload appends the payload of a cell to b.
func (t *Tree) appendPayload(b []byte, c *format.Cell) ([]byte, error) {
	b = append(b, c.Local...)
	pgno := c.Overflow
	for left := int(c.Payload) - len(c.Local); left > 0; {
		if pgno < 2 {
			return b, t.store.Corrupt(t.Steps[t.Depth].Pgno, FaultChain)
		}
		page, err := t.store.Page(pgno)
		if err != nil {
			return b, err
		}
		n := min(left, len(page)-4)
		b = append(b, page[4:4+n]...)
		left -= n
		pgno = Be32(page)
	}
	return b, nil
}
