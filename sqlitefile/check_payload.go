package sqlitefile

import "github.com/foliofs/folio/internal/format"

// A storedPayload reads the payload of a cell from its start to its end, and checks the chain of
// overflow pages while it goes. Only bytes that are taken are assembled; a part that is skipped may
// be as long as it likes.
type storedPayload struct {
	c    *checker
	page uint32 // of the cell
	size uint64 // bytes that are still to be read
	here []byte // the part of them in the current page

	next    uint32 // overflow page to come
	from    uint32 // the page that names it
	total   uint64 // pages that the chain must have
	left    uint64 // of them to come
	settled bool   // the end of the chain has been looked at, or its break
}

// newPayload starts to read the payload of a cell.
func (c *checker) newPayload(pgno uint32, cell *format.Cell) storedPayload {
	p := storedPayload{c: c, page: pgno, size: cell.Payload, here: cell.Local, from: pgno, settled: true}
	if spilled := cell.Payload - uint64(len(cell.Local)); spilled > 0 {
		room := uint64(c.rx.pager.Usable - 4)
		p.next, p.settled = cell.Overflow, false
		p.total = (spilled-1)/room + 1
		p.left = p.total
	}
	return p
}

// take returns the next n bytes, which must be there: in the page, or assembled at the end of
// arena. It is not ok, and has been a problem, if the chain is broken (K3).
func (p *storedPayload) take(n uint64, arena *[]byte) (b []byte, ok bool, err error) {
	if n <= uint64(len(p.here)) {
		return p.pass(n), true, nil
	}
	start := len(*arena)
	for {
		part := p.pass(min(n, uint64(len(p.here))))
		*arena = append(*arena, part...)
		if n -= uint64(len(part)); n == 0 {
			return (*arena)[start:len(*arena):len(*arena)], true, nil
		}
		if ok, err := p.step(); !ok {
			return nil, false, err
		}
	}
}

// skip passes over the next n bytes, which must be there.
func (p *storedPayload) skip(n uint64) (ok bool, err error) {
	for {
		part := p.pass(min(n, uint64(len(p.here))))
		if n -= uint64(len(part)); n == 0 {
			return true, nil
		}
		if ok, err := p.step(); !ok {
			return false, err
		}
	}
}

func (p *storedPayload) pass(n uint64) (b []byte) {
	b, p.here = p.here[:n:n], p.here[n:]
	p.size -= n
	return b
}

// finish checks the rest of the chain.
func (p *storedPayload) finish() error {
	for !p.settled && p.left > 0 {
		if ok, err := p.step(); !ok {
			return err
		}
	}
	if p.settled || p.next == 0 {
		return nil
	}
	p.settled = true
	return p.c.problemf(p.page, "an overflow chain goes on after the %d pages that its payload needs", p.total)
}

// step goes on to the next overflow page (K2).
func (p *storedPayload) step() (ok bool, err error) {
	if p.settled {
		return false, nil
	}
	if p.next == 0 {
		p.settled = true
		return false, p.c.problemf(p.page, "an overflow chain has %d of the %d pages that its payload needs", p.total-p.left, p.total)
	}
	data, ok, err := p.c.overflowPage(p)
	if !ok {
		p.settled = true
		return false, err
	}
	p.from, p.next = p.next, be32(data)
	p.left--
	p.here = data[4:min(uint64(len(data)), 4+p.size)]
	return true, nil
}

func (c *checker) overflowPage(p *storedPayload) (data []byte, ok bool, err error) {
	if ok, err := c.reach(p.from, p.next, "overflow page"); !ok {
		return nil, false, err
	}
	c.report.Pages.Overflow++
	want := format.Pointer{Type: format.PointerChain, Parent: p.from}
	if p.left == p.total {
		want.Type = format.PointerOverflow
	}
	if err := c.pointer(p.next, want); err != nil {
		return nil, false, err
	}
	return c.page(p.next)
}
