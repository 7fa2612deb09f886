package wal

import (
	"fmt"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// Files returns the files that hold the committed pages of a database with this log.
func (w *Log) Files(db osfile.Handle) []osfile.Handle {
	if w.Index.heap != nil {
		return []osfile.Handle{db, w.File}
	}
	return []osfile.Handle{db, w.File, w.Index.File}
}

// Cut reports whether the log was cut off before the end of frame last, or its index before the end
// of the used part. The error says which one; without a cut it is an error of the check itself.
func (w *Log) Cut(last uint32) (cut bool, err error) {
	size, err := w.File.Size()
	if err == nil && last > 0 && size < format.FrameOffset(last+1, w.PageSize) {
		return true, cutTo(w.File, size)
	}
	if err != nil || w.Index.heap != nil {
		return false, err
	}
	size, err = w.Index.File.Size()
	if err == nil && size < w.Index.size.Load() {
		return true, cutTo(w.Index.File, size)
	}
	return false, err
}

func cutTo(f osfile.Handle, size int64) error {
	return dberr.Corrupt(f.Name(), 0, fmt.Sprintf("it was cut off to %d bytes while it was open", size))
}
