package bulk

import (
	"encoding/binary"

	"github.com/foliofs/folio/internal/btree"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/invariant"
)

// A page collects the cells of one b-tree page in memory of its own. The array of offsets grows up
// from the header, the cells grow down from the end; put moves both to where the page is wanted.
type page struct {
	data    []byte // the usable bytes; the header is left out
	kind    format.PageKind
	Cells   int
	content int // offset of the last cell added
}

func newPageBuilder(kind format.PageKind, usable int) page {
	return page{data: make([]byte, usable), kind: kind, content: usable}
}

func (p *page) reset() {
	p.Cells = 0
	p.content = len(p.data)
}

// fits reports whether there is room for one more cell of n bytes.
func (p *page) fits(n int) bool {
	return p.kind.HeaderLen()+2*p.Cells+2+max(n, btree.MinCell) <= p.content
}

// fitsAt reports whether the page can be put with its header at offset at.
func (p *page) fitsAt(at int) bool {
	return at+p.kind.HeaderLen()+2*p.Cells <= p.content
}

// add returns the place of a new cell of n bytes, which fits; the caller fills it.
func (p *page) add(n int) []byte {
	invariant.Check(p.fits(n), "no room for a cell of %d bytes", n)
	if n < btree.MinCell {
		clear(p.data[p.content-btree.MinCell : p.content])
		p.content -= btree.MinCell - n
	}
	p.content -= n
	binary.BigEndian.PutUint16(p.data[p.kind.HeaderLen()+2*p.Cells:], uint16(p.content))
	p.Cells++
	return p.data[p.content : p.content+n : p.content+n]
}

// pop takes the last cell off the page and returns it, padding included. It is valid until the next
// add.
func (p *page) pop() []byte {
	end := len(p.data)
	if p.Cells > 1 {
		end = int(binary.BigEndian.Uint16(p.data[p.kind.HeaderLen()+2*(p.Cells-2):]))
	}
	cell := p.data[p.content:end:end]
	p.content = end
	p.Cells--
	return cell
}

// put makes the page in dst, with its header at offset at.
func (p *page) put(dst []byte, at int, right uint32) {
	h := format.PageHeader{Kind: p.kind, Cells: p.Cells, ContentStart: p.content, RightChild: right}
	h.Put(dst, at)
	header := p.kind.HeaderLen()
	array := copy(dst[at+header:], p.data[header:header+2*p.Cells])
	clear(dst[at+header+array : p.content])
	copy(dst[p.content:], p.data[p.content:])
}
