package format

import (
	"encoding/binary"
	"math/bits"
)

// The wal-index tells in which frame of the log a page was last written. Processes share it as
// mapped memory, so it is in the machine's own byte order, and here it is a sequence of 32-bit
// words, which is the unit that a process loads and stores atomically. It consists of blocks:
//
//	       WORDS  OF BLOCK 0                       OF EACH LATER BLOCK
//	   0 to 4095  34 words of header, then the     the page numbers of 4096 frames
//	              page numbers of 4062 frames
//	4096 to 8191  the hash table, of 8192 slots    the same
//
// A slot is 16 bits: 0 if it is free, and otherwise the position in the block, counted from 1,
// of a frame whose page hashes to this slot or to one before it, with no free slot between. At
// least half of the slots are free.
const (
	WALIndexBlockSize   = 32768 // bytes
	WALIndexBlockWords  = WALIndexBlockSize / 4
	WALIndexHeaderWords = 34
	WALIndexVersion     = 3007000

	walIndexSlots   = 8192
	walIndexFrames  = 4096 // in a block
	walIndexHashAt  = walIndexFrames
	walIndexHashMul = 383
)

// The header of the wal-index, by word: two copies of a WALIndexHeader, then how far the log is
// copied into the database.
//
//	WORD  BYTE  SIZE  DESCRIPTION
//	   0     0    48  WALIndexHeader
//	  12    48    48  WALIndexHeader, the same
//	  24    96     4  backfill: frames copied into the database
//	  25   100    20  five read marks: the last frame that readers with that lock use, or ReadMarkUnused
//	  30   120     8  lock bytes: never read, never written
//	  32   128     4  frames that a checkpoint has begun to copy
//	  33   132     4  not used by SQLite; see package wal
//
// A writer stores the copy at 12 first, and a reader loads it last; a header is good only if both
// are equal.
const (
	WALIndexCopyWord      = 12
	WALIndexBackfillWord  = 24
	WALIndexReadMarkWord  = 25 // of the first mark
	WALIndexAttemptedWord = 32
	WALIndexUnusedWord    = 33
	ReadMarkUnused        = 0xffffffff
)

// The bytes of the wal-index that processes lock.
const (
	WALWriteLock      = 120
	WALCheckpointLock = 121
	WALReadLock       = 123 // of the first read mark; 122 is SQLite's lock of a recovery
	WALReaders        = 5
	WALOpenLock       = 128 // shared while the wal-index is mapped; SQLite's dead man's switch
)

// A WALIndexHeader is one copy of the state of a log.
//
//	WORD  BYTE  SIZE  DESCRIPTION
//	   0     0     4  version: 3007000
//	   1     4     4  not used
//	   2     8     4  counter, raised by each transaction
//	   3    12     1  1 once the header is initialized
//	   3    13     1  1 if the log's checksums are big-endian
//	   3    14     2  page size; 1 stands for 65536
//	   4    16     4  last valid frame that ends a transaction
//	   5    20     4  size of the database in pages
//	   6    24     8  checksum of that frame
//	   8    32     8  salts, as the log's bytes: big-endian on every machine
//	  10    40     8  checksum of the first ten words
type WALIndexHeader struct {
	Version   uint32
	Change    uint32
	BigEndian bool
	PageSize  int
	MaxFrame  uint32 // 0 in an empty log
	PageCount uint32
	Frame     Checksum // of frame MaxFrame
	Salt      [2]uint32
}

// WALIndexWords is a WALIndexHeader as it lies in the wal-index.
type WALIndexWords [12]uint32

// hostBigEndian is the byte order of this machine, and so of its wal-indexes.
var hostBigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// ParseWALIndexHeader decodes a header. It is not ok if the header was never initialized or its
// checksum is wrong: then the log must be recovered. If it is ok, the caller must see to the
// version.
func ParseWALIndexHeader(w *WALIndexWords) (h WALIndexHeader, ok bool) {
	return parseWALIndexHeader(w, hostBigEndian)
}

func parseWALIndexHeader(w *WALIndexWords, bigEndian bool) (h WALIndexHeader, ok bool) {
	state := w[3]
	if bigEndian { // bring the bytes at 12 and 13 to the low end
		state = bits.ReverseBytes32(state)
	}
	h = WALIndexHeader{
		Version:   w[0],
		Change:    w[2],
		BigEndian: state>>8&0xff != 0,
		PageSize:  pageSize(hostUint16(uint16(state>>16), bigEndian)),
		MaxFrame:  w[4],
		PageCount: w[5],
		Frame:     Checksum{w[6], w[7]},
		Salt:      [2]uint32{saltWord(w[8], bigEndian), saltWord(w[9], bigEndian)},
	}
	return h, state&0xff != 0 && Checksum{w[10], w[11]} == Checksum{}.addWords(w[:10])
}

// Words encodes h, with its checksum.
func (h *WALIndexHeader) Words() WALIndexWords { return h.words(hostBigEndian) }

func (h *WALIndexHeader) words(bigEndian bool) WALIndexWords {
	size := hostUint16(uint16(h.PageSize&0xffff|h.PageSize>>16), bigEndian)
	state := uint32(size)<<16 | 1
	if h.BigEndian {
		state |= 1 << 8
	}
	if bigEndian {
		state = bits.ReverseBytes32(state)
	}
	w := WALIndexWords{
		h.Version, 0, h.Change, state, h.MaxFrame, h.PageCount, h.Frame[0], h.Frame[1],
		saltWord(h.Salt[0], bigEndian), saltWord(h.Salt[1], bigEndian),
	}
	sum := Checksum{}.addWords(w[:10])
	w[10], w[11] = sum[0], sum[1]
	return w
}

// hostUint16 turns two bytes, the first of them in the low half, to a number in the machine's own
// order, and back.
func hostUint16(v uint16, bigEndian bool) uint16 {
	if bigEndian {
		return bits.ReverseBytes16(v)
	}
	return v
}

// saltWord turns four big-endian bytes, loaded as a word in the machine's own order, to their
// number, and back.
func saltWord(v uint32, bigEndian bool) uint32 {
	if bigEndian {
		return v
	}
	return bits.ReverseBytes32(v)
}

// WALIndexBlock returns the block with the entry of a frame. The first frame is 1, the first block
// 0.
func WALIndexBlock(frame uint32) int {
	return int((uint64(frame) + WALIndexHeaderWords - 1) / walIndexFrames)
}

// WALIndexFirst returns the first frame of a block.
func WALIndexFirst(block int) uint32 {
	if block == 0 {
		return 1
	}
	return uint32(block)*walIndexFrames - WALIndexHeaderWords + 1
}

// WALIndexPageWord returns which word of its block holds the page number of a frame.
func WALIndexPageWord(frame uint32) int {
	return int((uint64(frame) + WALIndexHeaderWords - 1) % walIndexFrames)
}

// WALIndexHash returns the slot at which the search for a page begins. It goes on to
// NextWALIndexSlot until it meets a free one.
func WALIndexHash(pgno uint32) int { return int(pgno * walIndexHashMul % walIndexSlots) }

// NextWALIndexSlot returns the slot after a slot: after the last comes the first.
func NextWALIndexSlot(slot int) int { return (slot + 1) % walIndexSlots }

// PreviousWALIndexSlot returns the slot before a slot: before the first comes the last.
func PreviousWALIndexSlot(slot int) int { return (slot + walIndexSlots - 1) % walIndexSlots }

// WALIndexSlotWord returns which word of its block holds a slot. Each word holds two.
func WALIndexSlotWord(slot int) int { return walIndexHashAt + slot/2 }

// WALIndexSlot returns the value of a slot, given its word.
func WALIndexSlot(word uint32, slot int) uint16 {
	return uint16(word >> slotShift(slot, hostBigEndian))
}

// WithWALIndexSlot returns the word of a slot with v in that slot and the other as it was.
func WithWALIndexSlot(word uint32, slot int, v uint16) uint32 {
	shift := slotShift(slot, hostBigEndian)
	return word&^(0xffff<<shift) | uint32(v)<<shift
}

// slotShift returns by how many bits a slot is shifted in its word: the even one is the first in
// memory.
func slotShift(slot int, bigEndian bool) int {
	if slot&1 == 1 != bigEndian {
		return 16
	}
	return 0
}
