package format

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// wal lists a log: all frames that there is room for, and which of them are valid.
func (l *listing) wal() {
	h, ok := ParseWALHeader(l.b)
	if !ok || h.Version != WALVersion {
		l.t.Fatalf("not the header of a log: %+v", h)
	}
	l.walHeader(h)
	sum, valid := h.Checksum, true
	for frame := uint32(1); l.at < len(l.b); frame++ {
		if off := FrameOffset(frame, h.PageSize); off != int64(l.at) {
			l.t.Fatalf("frame %d is at %d, not at %d", frame, l.at, off)
		}
		f, _ := ParseFrameHeader(l.b[l.at:])
		page := l.b[l.at+FrameHeaderSize:][:h.PageSize]
		valid = valid && f.Follows(&h, sum, page)
		l.head("")
		l.head("frame %d: %s", frame, map[bool]string{true: "valid", false: "left over, not valid"}[valid])
		l.frameHeader(f)
		l.take(h.PageSize, "page %d", f.Page)
		if valid {
			again := FrameHeader{Page: f.Page, Commit: f.Commit}
			if again.Seal(&h, sum, page); again != f {
				l.t.Errorf("frame %d sealed anew: %+v, want %+v", frame, again, f)
			}
			sum = f.Checksum
		}
	}
}

func (l *listing) walHeader(h WALHeader) {
	at := l.at
	l.take(4, "magic; big-endian checksums: %t", h.BigEndian)
	l.take(4, "version %d", h.Version)
	l.take(4, "page size %d", h.PageSize)
	l.take(4, "checkpoint sequence number %d", h.Sequence)
	l.take(4, "salt 1 %08x", h.Salt[0])
	l.take(4, "salt 2 %08x", h.Salt[1])
	l.take(8, "checksum %08x", h.Checksum)
	b := make([]byte, WALHeaderSize)
	h.Checksum = Checksum{}
	h.Put(b)
	l.same("log header", b, l.b[at:l.at])
}

func (l *listing) frameHeader(f FrameHeader) {
	at := l.at
	l.take(4, "page %d", f.Page)
	l.take(4, "%d pages after the transaction", f.Commit)
	l.take(4, "salt 1 %08x", f.Salt[0])
	l.take(4, "salt 2 %08x", f.Salt[1])
	l.take(8, "checksum %08x", f.Checksum)
	b := make([]byte, FrameHeaderSize)
	f.Put(b)
	l.same("frame header", b, l.b[at:l.at])
}

// walIndex lists the first block of a wal-index that a machine of the given byte order wrote.
func (l *listing) walIndex(bigEndian bool) {
	if len(l.b) != WALIndexBlockSize {
		l.t.Fatalf("a block of %d bytes", len(l.b))
	}
	w := walIndexWords(l.b, bigEndian)
	h, ok := parseWALIndexHeader((*WALIndexWords)(w), bigEndian)
	if !ok || h.Version != WALIndexVersion {
		l.t.Fatalf("not the header of a wal-index: %+v", h)
	}
	l.head("")
	l.head("first copy")
	l.walIndexHeader(h, WALIndexWords(w[:WALIndexCopyWord]), bigEndian)
	l.head("second copy")
	l.walIndexHeader(h, WALIndexWords(w[WALIndexCopyWord:WALIndexBackfillWord]), bigEndian)
	l.head("checkpoints and readers")
	l.walIndexInfo(w)
	l.head("page numbers")
	for frame := uint32(1); frame <= h.MaxFrame; frame++ {
		if at := 4 * WALIndexPageWord(frame); at != l.at {
			l.t.Fatalf("the page of frame %d is at %d, not at %d", frame, l.at, at)
		}
		l.take(4, "frame %d: page %d", frame, w[WALIndexPageWord(frame)])
	}
	l.rest(4*WALIndexSlotWord(0), "pages of frames to come, or gone")
	l.head("hash table")
	l.walIndexSlots(w, h.MaxFrame, bigEndian)
}

// walIndexWords loads words as a machine of the given byte order does.
func walIndexWords(b []byte, bigEndian bool) (w []uint32) {
	for word := range slices.Chunk(b, 4) {
		if bigEndian {
			w = append(w, binary.BigEndian.Uint32(word))
		} else {
			w = append(w, binary.LittleEndian.Uint32(word))
		}
	}
	return w
}

func (l *listing) walIndexHeader(h WALIndexHeader, w WALIndexWords, bigEndian bool) {
	l.take(4, "version %d", h.Version)
	l.take(4, "not used")
	l.take(4, "change counter %d", h.Change)
	l.take(1, "initialized")
	l.take(1, "big-endian checksums: %t", h.BigEndian)
	l.take(2, "page size %d", h.PageSize)
	l.take(4, "last frame %d", h.MaxFrame)
	l.take(4, "%d pages", h.PageCount)
	l.take(8, "its checksum %08x", h.Frame)
	l.take(4, "salt 1 %08x", h.Salt[0])
	l.take(4, "salt 2 %08x", h.Salt[1])
	l.take(8, "checksum %08x", w[10:])
	if again := h.words(bigEndian); again != w {
		l.t.Errorf("wal-index header encoded anew:\n got %08x\nwant %08x", again, w)
	}
}

func (l *listing) walIndexInfo(w []uint32) {
	l.take(4, "%d frames are copied", w[WALIndexBackfillWord])
	for i := range WALReaders {
		mark := fmt.Sprint(w[WALIndexReadMarkWord+i])
		if w[WALIndexReadMarkWord+i] == ReadMarkUnused {
			mark = "not used"
		}
		l.take(4, "read mark %d: %s", i, mark)
	}
	if l.at != WALWriteLock {
		l.t.Errorf("lock bytes at %d", l.at)
	}
	l.take(8, "lock bytes")
	l.take(4, "%d frames were to be copied", w[WALIndexAttemptedWord])
	l.take(4, "not used")
	if l.at != 4*WALIndexHeaderWords {
		l.t.Errorf("a header of %d bytes", l.at)
	}
}

// walIndexSlots lists the hash table, and holds it to the page numbers.
func (l *listing) walIndexSlots(w []uint32, maxFrame uint32, bigEndian bool) {
	found := 0
	for slot := range walIndexSlots {
		word := w[WALIndexSlotWord(slot)]
		v := uint16(word >> slotShift(slot, bigEndian))
		if v == 0 || v > uint16(maxFrame) {
			continue
		}
		found++
		page := w[WALIndexPageWord(uint32(v))]
		l.rest(4*WALIndexSlotWord(0)+2*slot, "free slots")
		l.take(2, "slot %d: frame %d; page %d hashes to %d", slot, v, page, WALIndexHash(page))
	}
	l.rest(len(l.b), "free slots")
	if found != int(maxFrame) {
		l.t.Errorf("%d frames in the hash table, want %d", found, maxFrame)
	}
}

// journal lists a rollback journal: segments as far as they are on disk, then the rest.
func (l *listing) journal() {
	first, ok := ParseJournalHeader(l.b)
	if !ok || !first.ValidSizes() {
		l.t.Fatalf("not the header of a journal: %+v", first)
	}
	for l.at < len(l.b) {
		h, ok := ParseJournalHeader(l.b[l.at:])
		if !ok {
			break
		}
		l.head("")
		l.head("segment at %d", l.at)
		l.segment(h, first)
		l.rest(int(JournalNextSegment(int64(l.at), first.SectorSize)), "to the end of the sector")
	}
	name, ok := SuperJournal(l.b[max(0, len(l.b)-SuperJournalTail):])
	l.head("")
	if ok {
		l.superJournal(name, LockPage(int(first.PageSize)))
	} else {
		l.head("not on disk yet")
		l.rest(len(l.b), "what may come to be a segment")
	}
}

func (l *listing) segment(h, first JournalHeader) {
	at := l.at
	l.take(8, "magic")
	l.take(4, "%d records", h.Records)
	l.take(4, "nonce %08x", h.Nonce)
	l.take(4, "%d pages before the transaction", h.PageCount)
	l.take(4, "sector size %d", h.SectorSize)
	l.take(4, "page size %d", h.PageSize)
	b := make([]byte, JournalHeaderSize)
	h.Put(b)
	l.same("journal header", b, l.b[at:l.at])
	l.rest(at+int(first.SectorSize), "to the end of the sector")
	for range h.Records {
		l.journalRecord(l.b[l.at:][:JournalRecordSize(int(first.PageSize))], h.Nonce)
	}
}

func (l *listing) journalRecord(b []byte, nonce uint32) {
	r, ok := ParseJournalRecord(b)
	if !ok || !r.Valid(nonce) {
		l.t.Fatalf("no record at %#x", l.at)
	}
	l.take(4, "page %d", r.Page)
	l.take(len(r.Content), "its content")
	l.take(4, "checksum %08x", r.Checksum)
	l.same("journal record", r.Append(nil), b)
}

func (l *listing) superJournal(name string, lockPage uint32) {
	l.head("super-journal")
	if !strings.HasPrefix(name, "/") {
		l.t.Errorf("name %q", name)
	}
	if got := l.u32("lock page"); got != lockPage {
		l.t.Errorf("page %d ends the records, want %d", got, lockPage)
	}
	l.take(len(name), "name %q", name)
	l.take(4, "its length")
	l.take(4, "its sum")
	l.take(8, "magic")
}
