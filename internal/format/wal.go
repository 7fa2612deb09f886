package format

import (
	"encoding/binary"
	"hash/crc32"
)

// Sizes and numbers of a write-ahead log.
const (
	WALHeaderSize   = 32
	FrameHeaderSize = 24
	WALVersion      = 3007000
	walMagic        = 0x377f0682 // with its lowest bit set if the checksums are big-endian
)

// A WALHeader is the first 32 bytes of a write-ahead log. All integers are big-endian.
//
//	OFFSET  SIZE  DESCRIPTION
//	     0     4  0x377f0682, or 0x377f0683 if checksums read the log as big-endian words
//	     4     4  version: 3007000
//	     8     4  page size in bytes
//	    12     4  checkpoint sequence number: how often the log began again; SQLite only raises it. See Bind
//	    16     4  salt 1, raised by one each time the log begins again
//	    20     4  salt 2, random each time
//	    24     8  checksum of the first 24 bytes
//
// Frames follow, numbered from 1: a header of 24 bytes and the image of a page. The log ends at the
// first frame that is not valid, and its content at the last valid frame that ends a transaction.
// Anything beyond is left over from before the log began again, or from a crash.
type WALHeader struct {
	BigEndian bool // how checksums read the log; says nothing of the integers in headers
	Version   uint32
	PageSize  int
	Sequence  uint32
	Salt      [2]uint32
	Checksum  Checksum
}

// ParseWALHeader decodes the start of a log. If it is not ok the log holds nothing, whatever
// follows. If it is, the caller must see to the version: a log of any other than WALVersion is not
// to be read, nor to be ignored.
func ParseWALHeader(b []byte) (h WALHeader, ok bool) {
	if len(b) < WALHeaderSize {
		return h, false
	}
	u32 := func(off int) uint32 { return binary.BigEndian.Uint32(b[off:]) }
	magic, size := u32(0), u32(8)
	h = WALHeader{
		BigEndian: magic&1 == 1,
		Version:   u32(4),
		PageSize:  int(size),
		Sequence:  u32(12),
		Salt:      [2]uint32{u32(16), u32(20)},
		Checksum:  Checksum{u32(24), u32(28)},
	}
	if magic&^1 != walMagic || !validPageSize(size) {
		return h, false
	}
	return h, h.Checksum == Checksum{}.Add(b[:24], h.BigEndian)
}

// Put writes h to the start of b, which must be at least WALHeaderSize bytes long, and sets its
// checksum.
func (h *WALHeader) Put(b []byte) {
	magic := uint32(walMagic)
	if h.BigEndian {
		magic |= 1
	}
	for i, v := range [6]uint32{magic, h.Version, uint32(h.PageSize), h.Sequence, h.Salt[0], h.Salt[1]} {
		binary.BigEndian.PutUint32(b[4*i:], v)
	}
	h.Checksum = Checksum{}.Add(b[:24], h.BigEndian)
	binary.BigEndian.PutUint32(b[24:], h.Checksum[0])
	binary.BigEndian.PutUint32(b[28:], h.Checksum[1])
}

// Bind makes h the header of a log that begins while page 1 of the file says c. A later reader can
// tell by it that a log does not belong to the file beside it. It leaves its mark in numbers that
// mean nothing to SQLite: salt 2 need only differ from those before, which salt 1 sees to, and the
// sequence number says that the salt is of this kind. When SQLite begins the log again it raises
// the number and salt 1 by one, so that the mark is gone.
func (h *WALHeader) Bind(c Change) {
	h.Sequence, h.Salt[1] = ^h.Salt[0], h.boundSalt(c)
}

// Bound reports whether Bind has made h.
func (h *WALHeader) Bound() bool { return h.Sequence == ^h.Salt[0] }

// BeganOn reports whether a log whose header is bound began while page 1 of the file said c.
func (h *WALHeader) BeganOn(c Change) bool { return h.Salt[1] == h.boundSalt(c) }

func (h *WALHeader) boundSalt(c Change) uint32 {
	return crc32.Update(h.Salt[0], crc32.IEEETable, c[:])
}

// FrameOffset returns the offset of a frame in a log of the given page size. The first frame is 1.
func FrameOffset(frame uint32, pageSize int) int64 {
	return WALHeaderSize + (int64(frame)-1)*int64(FrameHeaderSize+pageSize)
}

// A FrameHeader is the start of a frame. All integers are big-endian.
//
//	OFFSET  SIZE  DESCRIPTION
//	     0     4  page number
//	     4     4  in a transaction's last frame, the size of the database in pages after it; else 0
//	     8     8  the salts of the log's header
//	    16     8  checksum of the log's header and of each frame up to this one
//
// The checksum takes in only the first 8 bytes of each frame's header, and the page.
type FrameHeader struct {
	Page     uint32
	Commit   uint32 // pages of the database after the transaction that this frame ends, or 0
	Salt     [2]uint32
	Checksum Checksum
}

// ParseFrameHeader decodes the header of a frame. It is not ok if b is too short; whether the frame
// is valid is for Follows to say.
func ParseFrameHeader(b []byte) (f FrameHeader, ok bool) {
	if len(b) < FrameHeaderSize {
		return f, false
	}
	u32 := func(off int) uint32 { return binary.BigEndian.Uint32(b[off:]) }
	return FrameHeader{
		Page:     u32(0),
		Commit:   u32(4),
		Salt:     [2]uint32{u32(8), u32(12)},
		Checksum: Checksum{u32(16), u32(20)},
	}, true
}

// Follows reports whether f is a valid frame of the log with header h, has the content page, and
// comes right after the frame whose checksum is prev. Before the first frame, prev is h's own
// checksum.
func (f *FrameHeader) Follows(h *WALHeader, prev Checksum, page []byte) bool {
	return f.Salt == h.Salt && f.Page != 0 && len(page) == h.PageSize && f.Checksum == f.sum(h, prev, page)
}

// Seal sets the salts and the checksum of f so that it follows prev in the log with header h.
func (f *FrameHeader) Seal(h *WALHeader, prev Checksum, page []byte) {
	f.Salt = h.Salt
	f.Checksum = f.sum(h, prev, page)
}

func (f *FrameHeader) sum(h *WALHeader, prev Checksum, page []byte) Checksum {
	var start [8]byte
	binary.BigEndian.PutUint32(start[0:], f.Page)
	binary.BigEndian.PutUint32(start[4:], f.Commit)
	return prev.Add(start[:], h.BigEndian).Add(page, h.BigEndian)
}

// Put writes f to the start of b, which must be at least FrameHeaderSize bytes long.
func (f *FrameHeader) Put(b []byte) {
	for i, v := range [6]uint32{f.Page, f.Commit, f.Salt[0], f.Salt[1], f.Checksum[0], f.Checksum[1]} {
		binary.BigEndian.PutUint32(b[4*i:], v)
	}
}
