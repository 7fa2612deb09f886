package disk

import (
	"io"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// minHole is the shortest hole that ends a range of data: a shorter one is read, as two calls of
// the system take longer.
const minHole = 64 << 10

// feedSparse writes the content of a file of that size to a stream, and does not read its holes.
// If the system or the file system does not tell holes, it reads all. Another size is
// ErrChanged.
func feedSparse(s *tree.Stream, file *fileHandle, size int64) error {
	for off := int64(0); off < size; {
		start, end, err := file.nextData(off, size)
		if err != nil || start < off {
			start, end = off, size
		}
		if err := s.AddHole(start - off); err != nil {
			return err
		}
		if _, err := file.Seek(start, io.SeekStart); err != nil {
			return err
		}
		if err := s.Copy(file, end-start); err != nil {
			return err
		}
		off = end
	}
	return tree.AtEnd(file)
}

// nextData returns the next range of data from off on, in a file of that size. At the end of the
// data both are size.
func (f *fileHandle) nextData(off, size int64) (start, end int64, err error) {
	if start, err = f.seekData(off, size); err != nil {
		return 0, 0, err
	}
	for at := start; at < size; {
		if end, err = f.seekHole(at, size); err != nil {
			return 0, 0, err
		}
		next, err := f.seekData(end, size)
		if err != nil {
			return 0, 0, err
		}
		if end <= at || next < end { // holes appear in the file meanwhile
			return 0, 0, tree.ErrChanged
		}
		if at = next; next-end >= minHole || next == size {
			return start, end, nil
		}
	}
	return size, size, nil
}
