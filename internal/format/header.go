package format

import "encoding/binary"

// Magic is the first 16 bytes of every database file.
const Magic = "SQLite format 3\x00"

// Sizes and limits of a database file.
const (
	HeaderSize    = 100        // bytes at the start of page 1
	MinPageSize   = 512        // bytes
	MaxPageSize   = 65536      // bytes
	MinUsableSize = 480        // bytes of a page less its reserved ones
	LockByte      = 0x40000000 // the page that holds this offset carries the locks and nothing else
	MaxPage       = 0xfffffffe // the highest page number
)

// Encoding is the encoding of all text in a database.
type Encoding uint32

// The encodings, by their number in the header. Zero, in a database that holds no table yet, means
// UTF-8. SQLite looks at the lowest two bits only, and so does ParseHeader.
const (
	UTF8    Encoding = 1
	UTF16LE Encoding = 2
	UTF16BE Encoding = 3
)

// Journal modes as the header's read and write versions tell them.
const (
	VersionRollback = 1
	VersionWAL      = 2
)

// A Header is the first 100 bytes of a database file. All integers are big-endian.
//
//	OFFSET  SIZE  DESCRIPTION
//	     0    16  "SQLite format 3" and a zero byte
//	    16     2  page size in bytes; 1 stands for 65536
//	    18     1  write version: 1 rollback journal, 2 write-ahead log; higher: do not write
//	    19     1  read version: 1, 2; higher: do not read
//	    20     1  bytes reserved at the end of each page
//	    21     3  64, 32, 32: the payload fractions, which never changed
//	    24     4  change counter, raised by each transaction in rollback mode
//	    28     4  size of the database in pages; valid only if the words at 24 and 92 are equal
//	    32     4  first trunk page of the freelist
//	    36     4  number of pages on the freelist
//	    40     4  schema cookie, raised by each change of the schema
//	    44     4  schema format: 1 to 4
//	    48     4  suggested cache size
//	    52     4  highest root page in an auto-vacuum or incremental-vacuum database, else 0
//	    56     4  text encoding
//	    60     4  user version
//	    64     4  not 0 for incremental vacuum
//	    68     4  application id
//	    72    20  zero
//	    92     4  version-valid-for: the change counter when the word at 96 was written
//	    96     4  number of the SQLite version that wrote last
type Header struct {
	PageSize        int
	WriteVersion    uint8
	ReadVersion     uint8
	Reserved        int
	ChangeCounter   uint32
	PageCount       uint32 // 0 if the header does not know it
	FreelistTrunk   uint32
	FreelistCount   uint32
	SchemaCookie    uint32
	SchemaFormat    uint32
	CacheSize       int32
	LargestRoot     uint32
	Encoding        Encoding
	UserVersion     int32
	Incremental     bool
	ApplicationID   uint32
	VersionValidFor uint32
	WriterVersion   uint32
}

// Usable returns the bytes of a page that hold data: its size less the reserved bytes.
func (h *Header) Usable() int { return h.PageSize - h.Reserved }

// AutoVacuum reports whether the database keeps pointer-map pages.
func (h *Header) AutoVacuum() bool { return h.LargestRoot != 0 }

// LockPage returns the number of the page that holds LockByte: never allocated, read or written.
func (h *Header) LockPage() uint32 { return LockPage(h.PageSize) }

// LockPage returns the number of the page that holds LockByte in a database of the given page size.
func LockPage(pageSize int) uint32 { return uint32(LockByte/pageSize) + 1 }

// ParseHeader decodes the start of page 1. The string is empty if b is a header, and otherwise says
// in a few words why it is not.
func ParseHeader(b []byte) (h Header, what string) {
	if len(b) < HeaderSize {
		return h, "shorter than a header"
	}
	if string(b[:16]) != Magic {
		return h, "no SQLite header"
	}
	h = decodeHeader(b)
	return h, h.fault(b)
}

func decodeHeader(b []byte) Header {
	u32 := func(off int) uint32 { return binary.BigEndian.Uint32(b[off:]) }
	h := Header{
		PageSize:        pageSize(binary.BigEndian.Uint16(b[16:])),
		WriteVersion:    b[18],
		ReadVersion:     b[19],
		Reserved:        int(b[20]),
		ChangeCounter:   u32(24),
		PageCount:       u32(28),
		FreelistTrunk:   u32(32),
		FreelistCount:   u32(36),
		SchemaCookie:    u32(40),
		SchemaFormat:    u32(44) & 0xff, // as SQLite reads it
		CacheSize:       int32(u32(48)),
		LargestRoot:     u32(52),
		Encoding:        Encoding(u32(56) & 3),
		UserVersion:     int32(u32(60)),
		Incremental:     u32(64) != 0,
		ApplicationID:   u32(68),
		VersionValidFor: u32(92),
		WriterVersion:   u32(96),
	}
	if h.ChangeCounter != h.VersionValidFor {
		h.PageCount = 0
	}
	if h.Encoding == 0 {
		h.Encoding = UTF8
	}
	return h
}

// StoredPageSize returns the page size in the first bytes of a database, at least 18, which need
// not be a header in any other way. It is not ok if no database can have that size.
func StoredPageSize(b []byte) (size uint32, ok bool) {
	size = uint32(pageSize(binary.BigEndian.Uint16(b[16:])))
	return size, validPageSize(size)
}

func pageSize(v uint16) int {
	if v == 1 {
		return MaxPageSize
	}
	return int(v)
}

func validPageSize(n uint32) bool { return n >= MinPageSize && n <= MaxPageSize && n&(n-1) == 0 }

// fault names the field of h that breaks the format, or returns "".
func (h *Header) fault(b []byte) string {
	switch {
	case !validPageSize(uint32(h.PageSize)):
		return "page size is not a power of two from 512 to 65536"
	case h.Usable() < MinUsableSize:
		return "too many reserved bytes in a page"
	case b[21] != 64 || b[22] != 32 || b[23] != 32:
		return "payload fractions are not 64, 32, 32"
	case h.SchemaFormat > 4:
		return "unknown schema format"
	}
	return ""
}

// Put writes h to the start of b, which must be at least HeaderSize bytes long.
func (h *Header) Put(b []byte) {
	clear(b[:HeaderSize])
	copy(b, Magic)
	binary.BigEndian.PutUint16(b[16:], uint16(h.PageSize&0xffff|h.PageSize>>16))
	b[18], b[19], b[20] = h.WriteVersion, h.ReadVersion, byte(h.Reserved)
	b[21], b[22], b[23] = 64, 32, 32
	incremental := uint32(0)
	if h.Incremental {
		incremental = 1
	}
	for _, f := range [...]struct {
		off int
		v   uint32
	}{
		{24, h.ChangeCounter},
		{28, h.PageCount},
		{32, h.FreelistTrunk},
		{36, h.FreelistCount},
		{40, h.SchemaCookie},
		{44, h.SchemaFormat},
		{48, uint32(h.CacheSize)},
		{52, h.LargestRoot},
		{56, uint32(h.Encoding)},
		{60, uint32(h.UserVersion)},
		{64, incremental},
		{68, h.ApplicationID},
		{92, h.VersionValidFor},
		{96, h.WriterVersion},
	} {
		binary.BigEndian.PutUint32(b[f.off:], f.v)
	}
}
