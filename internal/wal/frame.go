package wal

import (
	"github.com/foliofs/folio/internal/format"
)

// A Page is a page to be appended.
type Page struct {
	Pgno uint32
	Data []byte // the whole page
}

// A Tail is the end of the log behind frames that are not committed. The zero value is where the
// last commit ended.
type Tail struct {
	Header format.WALIndexHeader // of the last commit, with the salts of the frames
	Last   uint32
	Sum    format.Checksum
	again  uint32 // of the frames since the last commit, how many hold a page that a later one holds as well
	broken uint32 // the first frame whose checksum is wrong, as a page was written over it or before it (S4); 0 if none
}

// A pageFrame says in which frame a page is.
type pageFrame struct{ pgno, frame uint32 }

// A walHead is the header of a log, or zeros if the log is shorter.
type walHead [format.WALHeaderSize]byte
