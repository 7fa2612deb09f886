package folio

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"math"
	"path"
	"sync"
	"sync/atomic"

	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
)

// A File is an open file or directory. It is safe for concurrent use, unless a View or an Update
// opened it: then it belongs to the goroutine of that transaction.
//
// Each call reads the file as it is at that moment, as with a file of the operating system. Errors
// are *fs.PathError, except a bare io.EOF.
type File struct {
	from *reader
	name string
	ino  store.Ino
	typ  store.Type
	flag int // as given to OpenFile

	writer *writer // nil if it cannot be written to at all
	pinned bool    // the inode stays until Close

	known atomic.Pointer[knownNode]

	writing sync.Mutex // held by Write from beginning to end, so that each goes on where the last one ended; before mu

	mu      sync.Mutex // guards the fields below; a goroutine that holds it must not wait for its turn to write
	closed  bool
	changes int    // under way: the inode stays until they end
	off     int64  // where Read goes on
	after   string // the last name that ReadDir returned
	listed  bool   // that call of ReadDir came to the end: the next one returns nothing
}

var _ interface {
	fs.ReadDirFile
	io.ReaderAt
	io.Seeker
	io.WriterTo
} = (*File)(nil)

// Name returns the name that the file was opened by. In a Root, the name of the Root and a slash
// come before it.
func (f *File) Name() string { return f.name }

// Stat describes the file.
func (f *File) Stat() (fs.FileInfo, error) {
	rx, err := f.begin()
	if err != nil {
		return nil, pathError("stat", f.name, err)
	}
	defer f.from.end(rx)
	info, err := nodeInfo(rx, f.ino, path.Base(f.name))
	if err != nil {
		return nil, pathError("stat", f.name, err)
	}
	return info, nil
}

// begin starts a transaction unless the file is closed.
func (f *File) begin() (store.Rx, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.beginLocked()
}

func (f *File) isClosed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closedLocked()
}

// closedLocked is isClosed with mu held. The zero value is closed.
func (f *File) closedLocked() bool { return f.closed || f.from == nil }

func (f *File) beginLocked() (store.Rx, error) {
	if f.closedLocked() {
		return nil, fs.ErrClosed
	}
	return f.from.begin()
}

// Close closes the file. A second time it fails with fs.ErrClosed. It does not wait for writes
// under way, which go on.
func (f *File) Close() error {
	f.mu.Lock()
	again, unused := f.closedLocked(), f.changes == 0
	f.closed = true
	f.mu.Unlock()
	switch {
	case again:
		return pathError("close", f.name, fs.ErrClosed)
	case unused:
		f.release()
	}
	return nil
}

func (f *File) isDir() bool { return f.typ == store.Dir }

// find sets the inode that a path leads to, and holds it.
func (f *File) find(l location) error {
	for range maxTries {
		rx, at, err := f.from.find(l, true, store.NeedNode)
		if err != nil {
			return err
		}
		version := rx.Version()
		f.from.end(rx)
		f.ino, f.typ = at.ino, at.typ
		if f.from.pin != nil { // the inode stays in the snapshot
			return nil
		}
		if err := f.pin(); err != nil {
			return err
		}
		if now, ok := f.from.fs.store.Version(); ok && now == version || f.named() || f.ino == l.top { // a Root holds its directory
			return nil
		}
		f.release() // removed meanwhile; another file may have the name
	}
	return fs.ErrNotExist
}

// settle lets a file that was opened in a Root outlive it.
func (f *File) settle() {
	v := f.from.fs
	if f.from.root != nil {
		f.from = f.from.outside()
	}
	if f.writer != nil && f.writer.from.root != nil {
		if f.writer = &v.writer; f.from != &v.reader {
			f.writer = &writer{from: f.from}
		}
	}
}

// maxTries is how often File looks for a file that is replaced all the time.
const maxTries = 100

func (f *File) pin() error {
	err := f.from.fs.store.Pin(f.ino)
	f.pinned = err == nil
	return err
}

func (f *File) release() {
	if f.pinned {
		f.pinned = false
		f.from.fs.store.Unpin(f.ino)
	}
}

// named reports whether the inode still has a name.
func (f *File) named() bool {
	rx, err := f.from.begin()
	if err != nil {
		return false
	}
	defer f.from.end(rx)
	n, err := rx.Node(f.ino)
	return err == nil && n.Nlink > 0
}

// Read reads from where the last Read or Seek ended.
func (f *File) Read(p []byte) (int, error) {
	n, _, err := f.readNext(p)
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, f.wrap("read", err)
}

// ReadAt reads from offset off on. It returns io.EOF with fewer than len(p) bytes at the end of the
// file.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, pathError("readat", f.name, errNegativeOffset)
	}
	if len(p) == 0 {
		return 0, nil
	}
	if f.isClosed() {
		return 0, pathError("read", f.name, fs.ErrClosed)
	}
	n, err := f.readOpen(p, off)
	return n, f.wrap("read", err)
}

var errNegativeOffset = errors.New("negative offset")

// wrap names the file in an error, except io.EOF.
func (f *File) wrap(op string, err error) error {
	if err == io.EOF {
		return err
	}
	return pathError(op, f.name, err)
}

// readAt is ReadAt with mu held.
func (f *File) readAt(p []byte, off int64) (int, error) {
	if f.closedLocked() {
		return 0, fs.ErrClosed
	}
	if len(p) == 0 {
		return 0, nil
	}
	return f.readOpen(p, off)
}

func (f *File) readOpen(p []byte, off int64) (int, error) {
	switch {
	case !posix.Readable(f.flag):
		return 0, posix.ErrBadHandle
	case off > math.MaxInt64-int64(len(p)): // where the system counts no further
		return 0, fs.ErrInvalid
	}
	rx, err := f.from.begin()
	if err != nil {
		return 0, err
	}
	defer f.from.end(rx)
	n, err := f.node(rx)
	if err != nil || len(p) == 0 {
		return 0, err
	}
	return rx.ReadAt(n, p, off)
}

// A knownNode is a file's inode in the snapshot that was read last. It is immutable.
type knownNode struct {
	version uint64
	node    store.Node
}

// node returns the inode of a regular file.
func (f *File) node(rx store.Rx) (store.Node, error) {
	version := rx.Version()
	if k := f.known.Load(); k != nil && k.version == version {
		return k.node, nil
	}
	n, err := rx.Node(f.ino)
	if err == nil {
		err = mustBeRegular(n.Mode)
	}
	if err == nil && version != 0 {
		f.known.Store(&knownNode{version, n})
	}
	return n, err
}

// Seek sets where the next Read starts, also by [SeekData] and [SeekHole]. A directory can be taken
// back to its start.
func (f *File) Seek(offset int64, whence int) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	off, err := f.seek(offset, whence)
	if err != nil {
		return 0, pathError("seek", f.name, err)
	}
	f.off = off
	return off, nil
}

func (f *File) seek(offset int64, whence int) (int64, error) {
	if f.closedLocked() {
		return 0, fs.ErrClosed
	}
	if f.typ == store.Dir {
		if offset != 0 || whence != io.SeekStart {
			return 0, ErrIsDirectory
		}
		f.after, f.listed = "", false
		return 0, nil
	}
	if whence == SeekData || whence == SeekHole {
		return f.seekStored(offset, whence)
	}
	base, err := f.seekBase(whence)
	if err != nil {
		return 0, err
	}
	if off := base + offset; off >= 0 && off <= store.MaxSize {
		return off, nil
	}
	return 0, fs.ErrInvalid // negative, or where no file can have anything
}

func (f *File) size() (int64, error) {
	rx, err := f.from.begin()
	if err != nil {
		return 0, err
	}
	defer f.from.end(rx)
	n, err := f.node(rx)
	return n.Size, err
}

// readNext reads at the offset and moves it to end.
func (f *File) readNext(p []byte) (n int, end int64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err = f.readAt(p, f.off)
	f.off += int64(n)
	return n, f.off, err
}

// giveBack moves the offset back by n bytes if it is still where readNext or reserve left it.
func (f *File) giveBack(end int64, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.off == end {
		f.off -= int64(n)
	}
}

// ReadDir returns the next n entries of a directory in the order of their names, all that are left
// if n is 0 or less. For n > 0 it returns io.EOF at the end. Names that are added or removed
// between two calls do not disturb the rest: each call goes on after the last name of the call
// before.
func (f *File) ReadDir(n int) ([]fs.DirEntry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	list, err := f.readDir(n)
	if err != nil {
		return nil, pathError("readdirent", f.name, err)
	}
	if len(list.items) == 0 && n > 0 {
		return nil, io.EOF
	}
	return list.dirEntries(), nil
}

func (f *File) readDir(n int) (*dirList, error) {
	rx, err := f.beginLocked()
	if err != nil {
		return nil, err
	}
	defer f.from.end(rx)
	if f.typ != store.Dir {
		return nil, ErrNotDirectory
	}
	if f.listed { // to look once more would cost a trip to a server
		f.listed = false
		return new(dirList), nil
	}
	list, err := f.from.readList(rx, f.ino, f.after, n)
	if err != nil || len(list.items) == 0 {
		return list, cmp.Or(err, mustHaveName(rx, f.ino))
	}
	f.after, f.listed = list.name(len(list.items)-1), len(list.items) < n
	return list, nil
}

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
