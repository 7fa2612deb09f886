package format

import "encoding/binary"

// A Cell is one entry of a b-tree page.
//
//	table leaf:      varint payload size, varint rowid,         payload, [overflow page]
//	table interior:  child page,          varint rowid
//	index leaf:      varint payload size,                       payload, [overflow page]
//	index interior:  child page,          varint payload size,  payload, [overflow page]
//
// A payload too large for its page keeps only a first part there; the rest is a chain of overflow
// pages, each of which begins with the number of the next one, or 0.
type Cell struct {
	Child    uint32 // left child; interior pages only
	Rowid    int64  // table pages only
	Payload  uint64 // bytes of the whole payload; 0 in a table interior cell
	Local    []byte // the part of the payload that lies in the page; points into it
	Overflow uint32 // first overflow page, or 0 if Local is everything
	Size     int    // bytes of the cell in the page
}

// Spill tells how much of a payload stays in a page: a fixed property of page kind and usable size.
type Spill struct{ usable, max, min int }

// SpillOf returns the rule for pages of kind k.
func SpillOf(k PageKind, usable int) Spill {
	s := Spill{usable: usable, min: (usable-12)*32/255 - 23}
	if k == LeafTable {
		s.max = usable - 35
	} else {
		s.max = (usable-12)*64/255 - 23
	}
	return s
}

// Max returns how long a payload can be that stays in its page as a whole.
func (s Spill) Max() int { return s.max }

// Local returns how many bytes of a payload stay in the page; all of them unless it must spill.
func (s Spill) Local(payload uint64) int {
	if payload <= uint64(s.max) {
		return int(payload)
	}
	return s.spilled(payload)
}

func (s Spill) spilled(payload uint64) int {
	local := s.min + int((payload-uint64(s.min))%uint64(s.usable-4))
	if local > s.max {
		return s.min
	}
	return local
}

// ParseCell decodes the cell at offset off of a page of kind k, whose usable bytes are page. It is
// not ok if the cell runs past the end.
func ParseCell(page []byte, k PageKind, s Spill, off int) (c Cell, ok bool) {
	if off < 0 || off >= len(page) {
		return c, false
	}
	b := page[off:]
	n := 0
	if !k.Leaf() {
		if len(b) < 4 {
			return c, false
		}
		c.Child = binary.BigEndian.Uint32(b)
		n = 4
	}
	if k != InteriorTable {
		size, m := Varint(b[n:])
		if m == 0 {
			return c, false
		}
		c.Payload = size
		n += m
	}
	if k.Table() {
		rowid, m := Varint(b[n:])
		if m == 0 {
			return c, false
		}
		c.Rowid = int64(rowid)
		n += m
	}
	if k == InteriorTable {
		c.Size = n
		return c, true
	}
	return c, c.payload(b, n, s)
}

// payload fills in the part of a cell after the fixed part, which ends at n.
func (c *Cell) payload(b []byte, n int, s Spill) bool {
	local := s.Local(c.Payload)
	if local > len(b)-n {
		return false
	}
	c.Local = b[n : n+local : n+local]
	c.Size = max(n+local, 4) // a cell takes at least the room of a freeblock
	if uint64(local) == c.Payload {
		return true
	}
	if len(b)-n-local < 4 {
		return false
	}
	c.Overflow = binary.BigEndian.Uint32(b[n+local:])
	c.Size = n + local + 4
	return true
}

// Append appends c as a cell of a page of kind k to b. Local and Overflow must already be split as
// the page's Spill says; Size is not looked at.
func (c *Cell) Append(b []byte, k PageKind) []byte {
	if !k.Leaf() {
		b = binary.BigEndian.AppendUint32(b, c.Child)
	}
	if k != InteriorTable {
		b = AppendVarint(b, c.Payload)
	}
	if k.Table() {
		b = AppendVarint(b, uint64(c.Rowid))
	}
	b = append(b, c.Local...)
	if c.Overflow != 0 {
		b = binary.BigEndian.AppendUint32(b, c.Overflow)
	}
	return b
}
