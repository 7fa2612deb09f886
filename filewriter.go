package folio

import (
	"errors"
	"io"
	"io/fs"
	"math"

	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
)

// The methods of File that change it. Each is a transaction, unless a Tx opened the file.

var _ interface {
	io.Writer
	io.WriterAt
	io.StringWriter
	io.ReaderFrom
} = (*File)(nil)

var errAppend = errors.New("invalid use of WriteAt on file opened with O_APPEND")

// change calls fn with the inode in a transaction, after which O_SYNC syncs. It is about so many
// bytes.
func (f *File) change(bytes int, fn func(c *change, n *store.Node) error) error {
	if f.writer == nil {
		if f.from.hasEnded() {
			return fs.ErrClosed
		}
		return posix.ErrBadHandle
	}
	err := f.writer.changeBy(bytes, func(c *change) error {
		n, err := &c.node, error(nil)
		if *n, err = c.Tx.Node(f.ino); err == nil {
			err = fn(c, n)
		}
		return err
	})
	if err == nil && posix.Synced(f.flag) && f.writer.tx == nil {
		err = f.from.fs.sync(f.from.context())
	}
	return err
}

// changeOpen is change for a file that is open. Close does not wait for it, but the inode stays
// until it ends.
func (f *File) changeOpen(bytes int, fn func(c *change, n *store.Node) error) error {
	if err := f.startChange(); err != nil {
		return err
	}
	defer f.endChange()
	return f.change(bytes, fn)
}

func (f *File) startChange() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closedLocked() {
		return fs.ErrClosed
	}
	f.changes++
	return nil
}

func (f *File) endChange() {
	f.mu.Lock()
	f.changes--
	last := f.closed && f.changes == 0
	f.mu.Unlock()
	if last {
		f.release()
	}
}

// writable reports why a file cannot be written to.
func (f *File) writable() error {
	switch {
	case f.isClosed() || f.from.hasEnded():
		return fs.ErrClosed
	case !posix.Writable(f.flag):
		return posix.ErrBadHandle
	}
	return nil
}

// writeAt writes p at off, or at the end if off is less than 0, and returns where that ended.
func (f *File) writeAt(p []byte, off int64) (end int64, err error) {
	if err := f.writable(); err != nil || len(p) == 0 {
		return off, err
	}
	if off > math.MaxInt64-int64(len(p)) { // where the system counts no further
		return off, fs.ErrInvalid
	}
	err = f.changeOpen(len(p), func(c *change, n *store.Node) error {
		if err := mustBeRegular(n.Mode); err != nil {
			return err
		}
		at := off
		if at < 0 {
			at = n.Size
		}
		end = at + int64(len(p))
		if err := c.Write(n, p, at); err != nil {
			return err
		}
		return c.Tx.Put(n)
	})
	return end, err
}

// Write writes all of p, or nothing, at the place where the last Read, Write or Seek ended. With
// O_APPEND that is the end of the file, and no other write comes in between.
func (f *File) Write(p []byte) (int, error) {
	f.writing.Lock()
	defer f.writing.Unlock()
	write := f.writeNext
	if f.flag&posix.Append != 0 {
		write = f.append
	}
	if err := write(p); err != nil {
		return 0, pathError("write", f.name, err)
	}
	return len(p), nil
}

// writeNext writes p at the offset, which moves at once. So Read and Seek do not depend on the time
// at which the write gets its turn.
func (f *File) writeNext(p []byte) error {
	off, end := f.reserve(len(p))
	_, err := f.writeAt(p, off)
	if err != nil {
		f.giveBack(end, len(p))
	}
	return err
}

// reserve moves the offset by n bytes.
func (f *File) reserve(n int) (off, end int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	off = f.off
	f.off += int64(n)
	return off, f.off
}

// append writes p at the end of the file, and moves the offset there.
func (f *File) append(p []byte) error {
	end, err := f.writeAt(p, -1)
	if err == nil && len(p) > 0 {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.off = end
	}
	return err
}

// WriteString is Write for a string.
func (f *File) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

// WriteAt writes all of p at off, or nothing.
func (f *File) WriteAt(p []byte, off int64) (int, error) {
	switch {
	case f.flag&posix.Append != 0:
		return 0, errAppend
	case off < 0:
		return 0, pathError("writeat", f.name, errNegativeOffset)
	case len(p) == 0:
		return 0, nil
	}
	if _, err := f.writeAt(p, off); err != nil {
		return 0, pathError("write", f.name, err)
	}
	return len(p), nil
}

// readFromBuffer is how much ReadFrom writes at once.
const readFromBuffer = 16 * store.ChunkSize

// ReadFrom writes the bytes of r, in large pieces. Each of them is a transaction.
func (f *File) ReadFrom(r io.Reader) (written int64, err error) {
	if r == nil {
		return 0, pathError("write", f.name, errNil)
	}
	p := make([]byte, readFromBuffer)
	for size := 1 << 12; err == nil; size = min(2*size, len(p)) {
		var n int
		if n, err = fillFrom(r, p[:size]); n == 0 {
			break
		}
		m, writeErr := f.Write(p[:n])
		written += int64(m)
		if writeErr != nil {
			return written, writeErr
		}
	}
	if err == io.EOF {
		err = nil
	}
	return written, err
}

// fillFrom reads until p is full or r ends, with r's own error.
func fillFrom(r io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, err = r.Read(p[n:])
		n += m
	}
	return n, err
}

// Truncate sets the size of the file. Added bytes read as zeros and take no room.
func (f *File) Truncate(size int64) error {
	err := f.writable()
	if err == nil {
		err = f.changeOpen(math.MaxInt, func(c *change, n *store.Node) error {
			if mustBeRegular(n.Mode) != nil || size < 0 {
				return fs.ErrInvalid
			}
			return c.resize(n, size)
		})
	}
	if errors.Is(err, posix.ErrBadHandle) {
		err = fs.ErrInvalid
	}
	return pathError("truncate", f.name, err)
}

// Chmod sets the permissions of the file, and its setuid, setgid and sticky bits.
func (f *File) Chmod(mode fs.FileMode) error {
	return pathError("chmod", f.name, f.changeOpen(0, func(c *change, n *store.Node) error { return c.chmod(n, mode) }))
}

// Chown sets owner and group of the file; -1 leaves one as it is.
func (f *File) Chown(uid, gid int) error {
	return pathError("chown", f.name, f.changeOpen(0, func(c *change, n *store.Node) error { return c.chown(n, uid, gid) }))
}

// Sync returns when all that was written to the volume before survives the loss of power: content
// and names. In a Tx it does nothing, as nothing is written before that is committed.
func (f *File) Sync() error {
	switch {
	case f.isClosed() || f.from.hasEnded():
		return pathError("sync", f.name, fs.ErrClosed)
	case f.from.pin != nil:
		return nil
	}
	return pathError("sync", f.name, f.from.fs.sync(f.from.context()))
}

// Readdir returns as ReadDir does, but infos. It leaves out entries that were removed meanwhile.
func (f *File) Readdir(n int) ([]fs.FileInfo, error) {
	for {
		list, err := f.ReadDir(n)
		infos := make([]fs.FileInfo, 0, len(list))
		for _, d := range list {
			info, infoErr := d.Info()
			if isMissing(infoErr) {
				continue
			}
			if infoErr != nil {
				return infos, infoErr
			}
			infos = append(infos, info)
		}
		if err != nil || n <= 0 || len(infos) > 0 {
			return infos, err
		}
	}
}

// Readdirnames returns as ReadDir does, but names.
func (f *File) Readdirnames(n int) ([]string, error) {
	list, err := f.ReadDir(n)
	names := make([]string, len(list))
	for i, d := range list {
		names[i] = d.Name()
	}
	return names, err
}
