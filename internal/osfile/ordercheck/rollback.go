package ordercheck

import (
	"encoding/binary"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// checkPages looks at a write to a database.
func (s *System) checkPages(db *file, h osfile.Handle, p []byte, off int64) {
	if s.checkReplacing(db) {
		return
	}
	size := int64(pageSizeOf(h))
	if size == 0 || !db.named && !s.lazy {
		return // a new database (R0)
	}
	if off%size != 0 || int64(len(p))%size != 0 {
		s.breach(db, 1, "%d bytes are written at %d, of pages of %d", len(p), off, size)
		return
	}
	if l := s.files[db.base+suffixes[log]]; l != nil && s.framesOf(l) != nil {
		s.checkCopy(db, l, p, off, int(size))
		return
	}
	for at := int64(0); at < int64(len(p)); at += size {
		s.checkSaved(db, h, uint32((off+at)/size)+1, "is overwritten")
	}
}

// checkCut looks at a truncation of a database.
func (s *System) checkCut(db *file, h osfile.Handle, size int64) {
	if s.checkReplacing(db) {
		return
	}
	now, err := h.Size()
	page := int64(pageSizeOf(h))
	if err != nil || page == 0 || size >= now || !db.named && !s.lazy {
		return
	}
	if l := s.files[db.base+suffixes[log]]; l != nil {
		if frames := s.framesOf(l); frames != nil {
			s.checkShorter(db, frames, size/page, now/page)
			return
		}
	}
	for pgno := uint32(size/page) + 1; int64(pgno) <= now/page; pgno++ {
		s.checkSaved(db, h, pgno, "is cut off")
	}
}

// checkShorter looks at a database with a log that loses its pages after the first ones (R4).
func (s *System) checkShorter(db *file, frames *frames, first, now int64) {
	for pgno := first + 1; pgno <= min(now, int64(frames.size)); pgno++ {
		if len(frames.pages[uint32(pgno)]) == 0 {
			s.breach(db, 4, "is cut to %d pages, where the log says %d and has no frame of page %d", first, frames.size, pgno)
			return
		}
	}
}

// checkSaved looks for the image of a page in the journal (R2).
func (s *System) checkSaved(db *file, h osfile.Handle, pgno uint32, what string) {
	j := s.files[db.base+suffixes[journal]]
	if j == nil {
		if now, err := h.Size(); err == nil && int64(pgno)*int64(pageSizeOf(h)) <= now {
			s.breach(db, 2, "page %d %s without a journal", pgno, what)
		}
		return
	}
	saved, pages, ok := savedPages(s.stable(j))
	switch {
	case !ok:
		s.breach(db, 2, "page %d %s before the journal has a header that is synced", pgno, what)
	case !j.named && !s.lazy:
		s.breach(db, 2, "page %d %s before the name of the journal is synced", pgno, what)
	case pgno <= pages && !saved[pgno] && !j.leaves[pgno]:
		s.breach(db, 2, "page %d %s, and its image is not in the journal as it was synced", pgno, what)
	}
}

// savedPages returns the pages whose images a journal has, and of how many pages the database was.
// It is not ok if the journal would not be played back.
func savedPages(b []byte) (saved map[uint32]bool, pages uint32, ok bool) {
	first, ok := format.ParseJournalHeader(b)
	if !ok || !first.ValidSizes() {
		return nil, 0, false
	}
	saved = make(map[uint32]bool)
	record := int64(format.JournalRecordSize(int(first.PageSize)))
	for off := int64(0); off < int64(len(b)); {
		h, ok := format.ParseJournalHeader(b[off:])
		if !ok {
			break
		}
		off += int64(first.SectorSize)
		for n := uint32(0); n < h.Records; n++ {
			if off+record > int64(len(b)) {
				return saved, first.PageCount, true
			}
			r, ok := format.ParseJournalRecord(b[off : off+record])
			if !ok || !r.Valid(h.Nonce) {
				return saved, first.PageCount, true
			}
			saved[r.Page] = true
			off += record
		}
		off = format.JournalNextSegment(off, first.SectorSize)
	}
	return saved, first.PageCount, true
}

// checkJournal looks at a write to a journal: a write that destroys the header ends the journal.
func (s *System) checkJournal(j *file, p []byte, off int64) {
	if _, ok := format.ParseJournalHeader(j.content); !ok || off >= format.JournalHeaderSize {
		return
	}
	after := append([]byte(nil), j.content...)
	copy(after[off:], p)
	if _, ok := format.ParseJournalHeader(after); !ok {
		s.checkEnd(j, "loses its header")
	}
}

// checkEnd looks at the end of a journal (R3) or a log (R5).
func (s *System) checkEnd(f *file, what string) {
	switch {
	case f.role == log:
		s.checkCopied(f, what)
	case f.role == journal && !s.settled(s.files[f.base]):
		if _, _, ok := savedPages(f.content); ok {
			s.breach(f, 3, "%s before the database is synced", what)
		}
	}
}

// pageSizeOf returns the page size of a database, or 0 if it has no header yet.
func pageSizeOf(h osfile.Handle) int {
	var b [format.HeaderSize]byte
	if _, err := h.ReadAt(b[:], 0); err != nil {
		return 0
	}
	header, what := format.ParseHeader(b[:])
	if what != "" {
		return 0
	}
	return header.PageSize
}

// freeLeaves returns the leaves of the freelist of a database: their contents are not needed.
func freeLeaves(h osfile.Handle) map[uint32]bool {
	leaves := make(map[uint32]bool)
	size := pageSizeOf(h)
	if size == 0 {
		return leaves
	}
	page := make([]byte, size)
	if _, err := h.ReadAt(page, 0); err != nil {
		return leaves
	}
	header, _ := format.ParseHeader(page)
	trunk := header.FreelistTrunk
	for n := uint32(0); trunk != 0 && n < header.FreelistCount; n++ {
		if _, err := h.ReadAt(page, int64(trunk-1)*int64(size)); err != nil {
			return leaves
		}
		trunk = binary.BigEndian.Uint32(page)
		for i := range min(int(binary.BigEndian.Uint32(page[4:])), size/4-2) {
			leaves[binary.BigEndian.Uint32(page[8+4*i:])] = true
		}
	}
	return leaves
}
