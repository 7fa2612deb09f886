package folio

import (
	"bytes"
	"io"
	"io/fs"

	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
)

// A SparseReader is a content that knows where its holes are, for [Builder.Add], [Tx.Add] and
// WriteFrom. They call SkipHole instead of reading zeros: a file on disk of some GiB, most of them
// holes, takes no time then.
type SparseReader interface {
	io.Reader
	// SkipHole passes over the zeros that come next, as many whole units of unit bytes as there
	// are. It returns how many bytes that were, 0 if data come next. Read returns the zeros that
	// SkipHole leaves.
	SkipHole(unit int64) (int64, error)
}

// writeSparse writes p at off, but leaves out chunks of zeros.
func (c *change) writeSparse(n *store.Node, p []byte, off int64) error {
	for len(p) > 0 {
		run := 0
		for run < len(p) && !isHole(off+int64(run), p[run:]) {
			run += min(store.ChunkSize-int((off+int64(run))%store.ChunkSize), len(p)-run)
		}
		if run > 0 {
			if err := c.Tx.WriteAt(n, p[:run], off); err != nil {
				return err
			}
		} else {
			run = store.ChunkSize
		}
		p, off = p[run:], off+int64(run)
	}
	return nil
}

// isHole reports whether p begins with a whole chunk of zeros.
func isHole(off int64, p []byte) bool {
	return off%store.ChunkSize == 0 && len(p) >= store.ChunkSize && p[0] == 0 && bytes.Equal(p[:store.ChunkSize], zeroChunk[:])
}

var zeroChunk [store.ChunkSize]byte

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
