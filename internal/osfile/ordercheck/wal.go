package ordercheck

import (
	"bytes"

	"github.com/foliofs/folio/internal/format"
)

// frames are the committed frames of a log.
type frames struct {
	pages  map[uint32][][]byte // each version, the last at the end
	size   uint32              // of the database in pages after the last commit
	count  uint32
	header format.WALHeader
}

// framesOf returns the committed frames of the log as a crash would leave it, or nil if it has
// none.
func (s *System) framesOf(l *file) *frames {
	if l.frames == nil {
		l.frames = parseFrames(s.stable(l))
	}
	if l.frames.count == 0 {
		return nil
	}
	return l.frames
}

func parseFrames(b []byte) *frames {
	f := &frames{pages: make(map[uint32][][]byte)}
	h, ok := format.ParseWALHeader(b)
	if !ok {
		return f
	}
	f.header = h
	type version struct {
		pgno uint32
		page []byte
	}
	var open []version
	sum := h.Checksum
	for n := uint32(1); ; n++ {
		start := format.FrameOffset(n, h.PageSize)
		end := start + format.FrameHeaderSize + int64(h.PageSize)
		if end > int64(len(b)) {
			return f
		}
		frame, _ := format.ParseFrameHeader(b[start:])
		page := b[start+format.FrameHeaderSize : end]
		if !frame.Follows(&h, sum, page) {
			return f
		}
		sum = frame.Checksum
		open = append(open, version{frame.Page, page})
		if frame.Commit == 0 {
			continue
		}
		for _, v := range open {
			f.pages[v.pgno] = append(f.pages[v.pgno], v.page)
		}
		open, f.size, f.count = nil, frame.Commit, n
	}
}

// checkCopy looks at a write of a checkpoint to the database (R4).
func (s *System) checkCopy(db, l *file, p []byte, off int64, size int) {
	if !l.named && !s.lazy {
		s.breach(db, 4, "is written to before the name of the log is synced")
	}
	frames := s.framesOf(l)
	for at := 0; at < len(p); at += size {
		pgno := uint32((off+int64(at))/int64(size)) + 1
		if !contains(frames.pages[pgno], p[at:at+size]) {
			s.breach(db, 4, "page %d is written as no committed frame of the log has it, as that was synced", pgno)
		}
	}
}

func contains(versions [][]byte, page []byte) bool {
	for _, v := range versions {
		if bytes.Equal(v, page) {
			return true
		}
	}
	return false
}

// checkLog looks at a write to a log (R5, R6).
func (s *System) checkLog(l *file, p []byte, off int64) {
	now := parseFrames(l.content)
	if off < format.WALHeaderSize {
		s.checkCopied(l, "begins anew")
		return
	}
	if end := format.FrameOffset(now.count+1, now.header.PageSize); now.count > 0 && off < end {
		s.breach(l, 6, "committed frames are overwritten, at %d of %d", off, end)
	}
	if s.lazy || len(l.synced) >= format.WALHeaderSize && bytes.Equal(l.synced[:format.WALHeaderSize], l.content[:format.WALHeaderSize]) {
		return
	}
	s.breach(l, 6, "a frame is written before the header is synced")
}

// checkCopied looks whether a log is needed any more (R5).
func (s *System) checkCopied(l *file, what string) {
	frames, db := parseFrames(l.content), s.open(l.base)
	if frames.count == 0 || db == nil {
		return
	}
	if !s.settled(s.files[l.base]) {
		s.breach(l, 5, "%s before the database is synced", what)
	}
	page := make([]byte, frames.header.PageSize)
	for pgno, versions := range frames.pages {
		if pgno > frames.size {
			continue
		}
		if _, err := db.ReadAt(page, int64(pgno-1)*int64(len(page))); err != nil || !bytes.Equal(page, versions[len(versions)-1]) {
			s.breach(l, 5, "%s, and the database does not have page %d as the log has it", what, pgno)
		}
	}
}
