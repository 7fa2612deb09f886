package folio

import (
	"io"
	"io/fs"

	"github.com/foliofs/folio/internal/posix"
)

// Further values of whence for File.Seek, in a regular file. They are those of lseek(2) on Linux,
// on every system. Their offset counts from the start of the file. An offset that is negative, or
// at the end of the file or behind it, is an error that matches syscall.ENXIO.
const (
	// SeekData goes to the first byte from offset on that is not in a hole. If there is none, the
	// error matches syscall.ENXIO.
	SeekData = 3
	// SeekHole goes to the first byte from offset on that is in a hole. There is one at the end of
	// every file.
	SeekHole = 4
)

// seekBase returns the base of an offset.
func (f *File) seekBase(whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
		return 0, nil
	case io.SeekCurrent:
		return f.off, nil
	case io.SeekEnd:
		return f.size()
	}
	return 0, fs.ErrInvalid
}

var errNoData = posix.NoData("no data from this offset on")

// seekStored returns where the next data or the next hole begins.
func (f *File) seekStored(off int64, whence int) (int64, error) {
	rx, err := f.from.begin()
	if err != nil {
		return 0, err
	}
	defer f.from.end(rx)
	n, err := f.node(rx)
	if err != nil {
		return 0, err
	}
	if off < 0 || off >= n.Size {
		return 0, errNoData
	}
	if whence == SeekHole {
		return rx.NextHole(n, off)
	}
	at, err := rx.NextData(n, off)
	if err == nil && at == n.Size {
		err = errNoData
	}
	return at, err
}
