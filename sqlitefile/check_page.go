package sqlitefile

import (
	"encoding/binary"
	"slices"

	"github.com/foliofs/folio/internal/format"
)

// A treePage is a page of a b-tree that has been looked at: its cells are parsed in place
// when they are needed.
type treePage struct {
	format.PageHeader
	data  []byte
	pgno  uint32
	array int // offset of the array of cell offsets, which is within data
	spill format.Spill
}

// treePage reads a b-tree page and checks how its space is used.
func (c *checker) treePage(pgno uint32) (p treePage, ok bool, err error) {
	data, ok, err := c.page(pgno)
	if !ok {
		return p, false, err
	}
	p = treePage{data: data, pgno: pgno, spill: c.rx.pager.Spill[0]}
	at := format.PageHeaderAt(pgno)
	if p.PageHeader, ok = format.ParsePageHeader(data, at); !ok {
		return p, false, c.problemf(pgno, "is no b-tree page: its kind is %d", data[at])
	}
	if p.Kind.Table() {
		p.spill = c.rx.pager.Spill[1]
	}
	p.array = at + p.Kind.HeaderLen()
	if p.Cells > format.MaxCells(c.rx.pager.Header.PageSize) || p.array+2*p.Cells > len(data) {
		return p, false, c.problemf(pgno, "has %d cells, more than fit", p.Cells)
	}
	c.countPage(p.Kind)
	return p, true, c.layout(&p)
}

func (c *checker) countPage(k format.PageKind) {
	n := &c.report.Pages
	switch k {
	case format.InteriorTable:
		n.TableInterior++
	case format.LeafTable:
		n.TableLeaf++
	case format.InteriorIndex:
		n.IndexInterior++
	case format.LeafIndex:
		n.IndexLeaf++
	}
}

// offset returns where cell i starts.
func (p *treePage) offset(i int) int { return int(binary.BigEndian.Uint16(p.data[p.array+2*i:])) }

// cell returns cell i. It is not ok if it is not in the content area; layout has made that a
// problem.
func (p *treePage) cell(i int) (cell format.Cell, ok bool) {
	off := p.offset(i)
	if off < p.ContentStart {
		return cell, false
	}
	return format.ParseCell(p.data, p.Kind, p.spill, off)
}

// layout checks that cells and freeblocks are in the content area without overlap, and that what is
// left of it is as many fragmented bytes as the header says.
func (c *checker) layout(p *treePage) error {
	end := p.array + 2*p.Cells
	if p.ContentStart < end || p.ContentStart > len(p.data) {
		return c.problemf(p.pgno, "the cell content area starts at %d, outside %d to %d", p.ContentStart, end, len(p.data))
	}
	c.spans = c.spans[:0]
	sound := true
	for i := range p.Cells {
		cell, ok := p.cell(i)
		if ok {
			c.span(p.offset(i), cell.Size)
			ok = p.offset(i)+cell.Size <= len(p.data)
		}
		if !ok {
			sound = false
			if err := c.problemf(p.pgno, "cell %d at %d does not lie in the content area, %d to %d", i, p.offset(i), p.ContentStart, len(p.data)); err != nil {
				return err
			}
		}
	}
	ok, err := c.freeblocks(p)
	if !ok || !sound {
		return err
	}
	return c.coverage(p)
}

// span notes the use of size > 0 bytes at off. Both ends fit into 16 bits, so that spans sort by
// their start.
func (c *checker) span(off, size int) {
	c.spans = append(c.spans, uint32(off)<<16|uint32(off+size-1)&0xffff)
}

// freeblocks notes the chain of free blocks. They ascend, so the chain ends.
func (c *checker) freeblocks(p *treePage) (ok bool, err error) {
	low := p.ContentStart
	for off := p.FirstFreeblock; off != 0; {
		if off < low || off+4 > len(p.data) {
			return false, c.problemf(p.pgno, "a freeblock at %d, outside %d to %d", off, low, len(p.data)-4)
		}
		next := int(binary.BigEndian.Uint16(p.data[off:]))
		size := int(binary.BigEndian.Uint16(p.data[off+2:]))
		if size < 4 || off+size > len(p.data) {
			return false, c.problemf(p.pgno, "a freeblock at %d of %d bytes", off, size)
		}
		c.span(off, size)
		low = off + size + 4 // less than 4 bytes between two would be part of the first
		off = next
	}
	return true, nil
}

// coverage checks the spans of a page against each other and against the number of fragmented
// bytes.
func (c *checker) coverage(p *treePage) error {
	slices.Sort(c.spans)
	fragmented, free := 0, p.ContentStart
	for _, s := range c.spans {
		start, last := int(s>>16), int(s&0xffff)
		if start < free {
			return c.problemf(p.pgno, "byte %d is used twice", start)
		}
		fragmented += start - free
		free = last + 1
	}
	if fragmented += len(p.data) - free; fragmented != p.Fragmented {
		return c.problemf(p.pgno, "%d fragmented bytes, the header counts %d", fragmented, p.Fragmented)
	}
	return nil
}
