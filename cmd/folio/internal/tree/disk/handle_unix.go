//go:build linux || darwin

package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/internal/posix"
)

// A dirHandle is an open directory that several goroutines hold. It is closed when the last one
// releases it.
type dirHandle struct {
	fd      int
	holders atomic.Int32
}

const openFlags = unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK // NONBLOCK: a fifo put in the way must not block

// openRoot opens a directory by its path, through symbolic links.
func openRoot(path string) (*dirHandle, error) {
	d, err := openDirAt(unix.AT_FDCWD, path, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return d, nil
}

func openDirAt(at int, name string, flags int) (*dirHandle, error) {
	fd, err := retry(func() (int, error) { return unix.Openat(at, name, openFlags|unix.O_DIRECTORY|flags, 0) })
	if err != nil {
		return nil, err
	}
	d := &dirHandle{fd: fd}
	d.holders.Store(1)
	return d, nil
}

// changed returns the cause if a file cannot be opened as it was listed.
func changed(err error) error {
	switch {
	case errors.Is(err, unix.ENOENT):
		return tree.ErrVanished
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENOTDIR):
		return tree.ErrChanged
	}
	return err
}

func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

func (d *dirHandle) retain() *dirHandle {
	d.holders.Add(1)
	return d
}

func (d *dirHandle) release() {
	if d.holders.Add(-1) == 0 {
		_ = unix.Close(d.fd)
	}
}

// openDir opens a directory within this one.
func (d *dirHandle) openDir(name string) (*dirHandle, fileStat, error) {
	sub, err := openDirAt(d.fd, name, unix.O_NOFOLLOW)
	if err != nil {
		return nil, fileStat{}, err
	}
	st, err := sub.stat()
	if err != nil {
		sub.release()
		return nil, fileStat{}, err
	}
	return sub, st, nil
}

func (d *dirHandle) stat() (fileStat, error) { return fstat(d.fd) }

func fstat(fd int) (fileStat, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fileStat{}, err
	}
	return toFileStat(&st), nil
}

func toFileStat(st *unix.Stat_t) fileStat {
	return fileStat{
		id:     tree.FileID{Dev: uint64(st.Dev), Ino: st.Ino},
		mode:   posix.FileMode(uint32(st.Mode)),
		links:  uint64(st.Nlink),
		uid:    st.Uid,
		gid:    st.Gid,
		size:   st.Size,
		mtime:  time.Unix(st.Mtim.Unix()),
		atime:  time.Unix(st.Atim.Unix()),
		ctime:  time.Unix(st.Ctim.Unix()),
		sparse: st.Blocks*512 < st.Size,
		rdev:   posix.Device(unix.Major(uint64(st.Rdev)), unix.Minor(uint64(st.Rdev))), // Darwin packs the two numbers in another way
	}
}

// lstat tells about one file of the directory.
func (d *dirHandle) lstat(name string) (fileStat, error) {
	var st unix.Stat_t
	_, err := retry(func() (int, error) { return 0, unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	if err != nil {
		return fileStat{}, err
	}
	return toFileStat(&st), nil
}

// listBuffers are the buffers of list. Clearing a new one would take longer than listing most
// directories.
var listBuffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// list returns the names in the directory, in no order, without "." and "..".
func (d *dirHandle) list() (names []string, err error) {
	pooled := listBuffers.Get().(*[32 << 10]byte)
	defer listBuffers.Put(pooled)
	buf := pooled[:]
	for {
		n, err := retry(func() (int, error) { return unix.ReadDirent(d.fd, buf) })
		if err != nil || n <= 0 {
			return names, err
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
	}
}

// readlink returns the target of a symbolic link, which is size bytes long unless the file system
// says another size. For example, links in /proc have the size 0.
func (d *dirHandle) readlink(name string, size int64) (string, error) {
	for n := max(size+1, 128); ; n *= 2 {
		buf := make([]byte, n)
		got, err := retry(func() (int, error) { return unix.Readlinkat(d.fd, name, buf) })
		if err != nil {
			return "", err
		}
		if got < len(buf) {
			return string(buf[:got]), nil
		}
	}
}

func (d *dirHandle) xattrs() (map[string][]byte, error) { return fdXattrs(d.fd) }

// open opens a file of the directory for reading. stat tells whether it is the file that was
// listed.
func (d *dirHandle) open(name string) (*fileHandle, error) {
	fd, err := retry(func() (int, error) { return unix.Openat(d.fd, name, openFlags|unix.O_NOFOLLOW, 0) })
	if err != nil {
		return nil, err
	}
	return &fileHandle{fd: fd}, nil
}

// A fileHandle is an open file, read from the front.
type fileHandle struct{ fd int }

func (f *fileHandle) close() { _ = unix.Close(f.fd) }

func (f *fileHandle) stat() (fileStat, error) { return fstat(f.fd) }

func (f *fileHandle) xattrs() (map[string][]byte, error) { return fdXattrs(f.fd) }

func (f *fileHandle) Read(p []byte) (int, error) {
	n, err := retry(func() (int, error) { return unix.Read(f.fd, p) })
	switch {
	case err != nil:
		return 0, os.NewSyscallError("read", err)
	case n == 0 && len(p) > 0:
		return 0, io.EOF
	}
	return n, nil
}

// Seek sets where the next Read begins.
func (f *fileHandle) Seek(off int64, whence int) (int64, error) {
	at, err := unix.Seek(f.fd, off, whence)
	return at, os.NewSyscallError("lseek", err)
}

// seekData returns where the first data from off on begin, or size if there are none before.
func (f *fileHandle) seekData(off, size int64) (int64, error) {
	at, err := f.Seek(off, unix.SEEK_DATA)
	if errors.Is(err, unix.ENXIO) {
		return size, nil
	}
	return min(at, size), err
}

// seekHole returns where the first hole from off on begins, or size if there is none before.
func (f *fileHandle) seekHole(off, size int64) (int64, error) {
	at, err := f.Seek(off, unix.SEEK_HOLE)
	if errors.Is(err, unix.ENXIO) {
		return size, nil
	}
	return min(at, size), err
}
