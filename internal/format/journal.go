package format

import (
	"encoding/binary"
	"strings"
)

// Sizes and numbers of a rollback journal.
const (
	JournalHeaderSize = 28 // bytes of a header that mean something
	MinSectorSize     = 32
	MaxSectorSize     = 65536
	JournalAllRecords = 0xffffffff // as many as the file holds, in a header's number of records
	journalMagic      = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
)

// A JournalHeader begins a rollback journal and each further segment of it. It takes a whole
// sector, and begins at a multiple of the sector size. All integers are big-endian.
//
//	OFFSET  SIZE  DESCRIPTION
//	     0     8  d9 d5 05 f9 20 a1 63 d7
//	     8     4  number of records in this segment, or 0xffffffff for as many as the file holds
//	    12     4  nonce, with which each record's checksum begins
//	    16     4  size of the database in pages before the transaction
//	    20     4  sector size in bytes: a power of two from 32 to 65536
//	    24     4  page size in bytes; 0, from SQLite before 3.5.8, for the page size of the database
//	    28        zero, to the end of the sector
//
// The first 12 bytes are zero until the records are safe on disk.
type JournalHeader struct {
	Records    uint32
	Nonce      uint32
	PageCount  uint32
	SectorSize uint32
	PageSize   uint32
}

// ParseJournalHeader decodes the start of a segment. If it is not ok the journal ends before it.
func ParseJournalHeader(b []byte) (h JournalHeader, ok bool) {
	if len(b) < JournalHeaderSize || string(b[:8]) != journalMagic {
		return h, false
	}
	u32 := func(off int) uint32 { return binary.BigEndian.Uint32(b[off:]) }
	return JournalHeader{Records: u32(8), Nonce: u32(12), PageCount: u32(16), SectorSize: u32(20), PageSize: u32(24)}, true
}

// ValidSizes reports whether the sector size and the page size are ones that the format allows.
// Only a journal's first header decides on them: if its sizes are not valid the journal holds
// nothing, and later headers are ignored.
func (h *JournalHeader) ValidSizes() bool {
	sector := h.SectorSize
	return sector >= MinSectorSize && sector <= MaxSectorSize && sector&(sector-1) == 0 &&
		(h.PageSize == 0 || validPageSize(h.PageSize))
}

// Put writes h to the start of b, which must be at least JournalHeaderSize bytes long.
func (h *JournalHeader) Put(b []byte) {
	copy(b, journalMagic)
	for i, v := range [5]uint32{h.Records, h.Nonce, h.PageCount, h.SectorSize, h.PageSize} {
		binary.BigEndian.PutUint32(b[8+4*i:], v)
	}
}

// JournalNextSegment returns the first offset at or after off at which a segment may begin. The
// sector size must be a valid one.
func JournalNextSegment(off int64, sectorSize uint32) int64 {
	sector := int64(sectorSize)
	return (off + sector - 1) / sector * sector
}

// A JournalRecord is the image of a page before the transaction.
//
//	OFFSET  SIZE  DESCRIPTION
//	     0     4  page number
//	     4     P  content, P being the page size
//	   4+P     4  checksum: the segment's nonce and each 200th byte of the content
//
// The journal ends at a record with a wrong checksum, and at page number 0 or the number of the
// lock page.
type JournalRecord struct {
	Page     uint32
	Content  []byte // points into the record
	Checksum uint32
}

// JournalRecordSize returns the size of a record in bytes.
func JournalRecordSize(pageSize int) int { return 8 + pageSize }

// ParseJournalRecord decodes a record, which is all of b. It is not ok if b is no JournalRecordSize
// of any page size; whether the record is valid is for Valid to say.
func ParseJournalRecord(b []byte) (r JournalRecord, ok bool) {
	end := len(b) - 4
	if end < 4 || !validPageSize(uint32(end-4)) {
		return r, false
	}
	return JournalRecord{
		Page:     binary.BigEndian.Uint32(b),
		Content:  b[4:end:end],
		Checksum: binary.BigEndian.Uint32(b[end:]),
	}, true
}

// Valid reports whether r is a record of a segment with this nonce.
func (r *JournalRecord) Valid(nonce uint32) bool {
	return r.Page != 0 && r.Page != LockPage(len(r.Content)) && r.Checksum == JournalChecksum(nonce, r.Content)
}

// Append appends r to b.
func (r *JournalRecord) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, r.Page)
	b = append(b, r.Content...)
	return binary.BigEndian.AppendUint32(b, r.Checksum)
}

// JournalChecksum returns the checksum of a record with this content: the nonce and the bytes 200,
// 400, 600 and so on from the end, but never the first.
func JournalChecksum(nonce uint32, content []byte) uint32 {
	for i := len(content) - 200; i > 0; i -= 200 {
		nonce += uint32(content[i])
	}
	return nonce
}

// SuperJournal returns the name of the super-journal of which this journal is a part. A transaction
// over several databases writes it at the very end of each one's journal, and is committed once the
// file of that name is gone: a journal that names a missing one must not be played back.
//
//	OFFSET  SIZE  DESCRIPTION
//	     0     4  number of the lock page, which ends the records
//	     4     N  name, in UTF-8
//	   4+N     4  N
//	   8+N     4  sum of the name's bytes
//	  12+N     8  d9 d5 05 f9 20 a1 63 d7
//
// Tail is the end of the journal: SuperJournalTail bytes, or all of it if it is shorter. ok is
// false if there is no name there, or a damaged one, which SQLite takes to be none. SQLite sums the
// bytes as C's char, signed on some machines and unsigned on others; SuperJournal accepts either
// sum. A zero byte ends the name.
func SuperJournal(tail []byte) (name string, ok bool) {
	end := len(tail) - 16
	if end < 0 || string(tail[end+8:]) != journalMagic {
		return "", false
	}
	n := binary.BigEndian.Uint32(tail[end:])
	sum := binary.BigEndian.Uint32(tail[end+4:])
	if n == 0 || n > maxSuperJournal || int(n) > end {
		return "", false
	}
	b := tail[end-int(n) : end]
	if signed, unsigned := superJournalSums(b); sum != signed && sum != unsigned {
		return "", false
	}
	name, _, _ = strings.Cut(string(b), "\x00")
	return name, name != ""
}

// SuperJournalName reports whether a name has the form of SQLite's super-journals: the name of the
// main database, "-mj", and nine hexadecimal digits, the third last of which is 9.
func SuperJournalName(name string) bool {
	n := len(name) - len("-mjxxxxxx9xx")
	if n < 0 || name[n:n+3] != "-mj" || name[len(name)-3] != '9' {
		return false
	}
	return strings.Trim(name[n+3:], "0123456789abcdefABCDEF") == ""
}

// SuperJournalTail is how much of the end of a journal SuperJournal looks at, in bytes.
const SuperJournalTail = maxSuperJournal + 16

const maxSuperJournal = 512 // as SQLite limits path names on Unix

func superJournalSums(name []byte) (signed, unsigned uint32) {
	for _, c := range name {
		signed += uint32(int8(c)) // sign-extended
		unsigned += uint32(c)
	}
	return signed, unsigned
}
