package wal

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// ErrReplaced says that the file of the database is not the one that the log belongs to.
var ErrReplaced = errors.New("another file was put in its place")

// ChangeIn returns the change in a database file, which is zero if the file ends before it. A part
// of one tells nothing, and is an error.
func ChangeIn(db osfile.Handle) (c format.Change, err error) {
	n, err := db.ReadAt(c[:], format.ChangeOffset)
	switch {
	case n == len(c):
		return c, nil
	case n > 0 && errors.Is(err, io.EOF):
		return format.Change{}, dberr.CutOff(db.Name(), err)
	}
	return format.Change{}, dberr.IgnoreEOF(err)
}

// A home is the change that the file of a database had when it was found to be the one that the log
// belongs to, and the state of the log at that time.
type home struct {
	change format.Change
	state  logState
}

// A logState tells the states of a log apart.
type logState struct {
	salt             [2]uint32
	change, maxFrame uint32
}

func stateOf(h *format.WALIndexHeader) logState { return logState{h.Salt, h.Change, h.MaxFrame} }

// sumOf returns a sum of a stamp, which is not 0.
func sumOf(s *osfile.Stamp) uint32 {
	return crc32.ChecksumIEEE(fmt.Append(nil, *s)) | 1
}

// stampOf returns the stamp of a file, or of the zero time if the system has none.
func stampOf(f osfile.Handle) (osfile.Stamp, error) {
	if f, ok := f.(interface{ Stamp() (osfile.Stamp, error) }); ok {
		return f.Stamp()
	}
	return osfile.Stamp{}, nil
}
