package sqlitefile

import (
	"encoding/binary"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/invariant"
)

// minCell is the least room that a cell takes in a page: that of a freeblock.
const minCell = 4

// A pageBuilder collects the cells of one b-tree page in memory of its own. The array of offsets grows up from the header,
// the cells grow down from the end; put moves both to where the page is wanted.
type pageBuilder struct {
	data    []byte // the usable bytes; the header is left out
	kind    format.PageKind
	cells   int
	content int // offset of the last cell added
}

func newPageBuilder(kind format.PageKind, usable int) pageBuilder {
	return pageBuilder{data: make([]byte, usable), kind: kind, content: usable}
}

func (p *pageBuilder) reset() {
	p.cells = 0
	p.content = len(p.data)
}

// fits reports whether there is room for one more cell of n bytes.
func (p *pageBuilder) fits(n int) bool {
	return p.kind.HeaderLen()+2*p.cells+2+max(n, minCell) <= p.content
}

// fitsAt reports whether the page can be put with its header at offset at.
func (p *pageBuilder) fitsAt(at int) bool {
	return at+p.kind.HeaderLen()+2*p.cells <= p.content
}

// add returns the place of a new cell of n bytes, which fits; the caller fills it.
func (p *pageBuilder) add(n int) []byte {
	invariant.Check(p.fits(n), "no room for a cell of %d bytes", n)
	if n < minCell {
		clear(p.data[p.content-minCell : p.content])
		p.content -= minCell - n
	}
	p.content -= n
	binary.BigEndian.PutUint16(p.data[p.kind.HeaderLen()+2*p.cells:], uint16(p.content))
	p.cells++
	return p.data[p.content : p.content+n : p.content+n]
}

// pop takes the last cell off the page and returns it, padding included. It is valid until the next add.
func (p *pageBuilder) pop() []byte {
	end := len(p.data)
	if p.cells > 1 {
		end = int(binary.BigEndian.Uint16(p.data[p.kind.HeaderLen()+2*(p.cells-2):]))
	}
	cell := p.data[p.content:end:end]
	p.content = end
	p.cells--
	return cell
}

// put makes the page in dst, with its header at offset at.
func (p *pageBuilder) put(dst []byte, at int, right uint32) {
	h := format.PageHeader{Kind: p.kind, Cells: p.cells, ContentStart: p.content, RightChild: right}
	h.Put(dst, at)
	header := p.kind.HeaderLen()
	array := copy(dst[at+header:], p.data[header:header+2*p.cells])
	clear(dst[at+header+array : p.content])
	copy(dst[p.content:], p.data[p.content:])
}
