//go:build linux || darwin

package source

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/internal/posix"
)

// These are system calls on descriptors rather than methods of os.Root and os.File, which take
// several of them for each file: a tree of many small files would take a third longer.

const (
	openFlags = unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NOFOLLOW | unix.O_NONBLOCK // a fifo put in the way must not block
	seekData  = unix.SEEK_DATA
	seekHole  = unix.SEEK_HOLE
	errNoMore = unix.ENXIO
)

// A directory is an open directory.
type directory int

// A descriptor is that of an open file.
type descriptor int

func openDirectory(path string) (directory, error) {
	fd, err := openAt(unix.AT_FDCWD, path, openFlags&^unix.O_NOFOLLOW|unix.O_DIRECTORY)
	if err != nil {
		return 0, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return directory(fd), nil
}

// openDir opens a directory within this one.
func (d directory) openDir(name string) (directory, error) {
	fd, err := openAt(int(d), name, openFlags|unix.O_DIRECTORY)
	return directory(fd), err
}

// openFile opens a file of the directory, and no symbolic link.
func (d directory) openFile(name string) (descriptor, error) {
	fd, err := openAt(int(d), name, openFlags)
	return descriptor(fd), err
}

func openAt(at int, name string, flags int) (int, error) {
	return retry(func() (int, error) { return unix.Openat(at, name, flags, 0) })
}

func (d directory) close() { _ = unix.Close(int(d)) }

// lstat tells about one file of the directory, or about the directory, which is ".".
func (d directory) lstat(name string) (fileStat, error) {
	var st unix.Stat_t
	_, err := retry(func() (int, error) { return 0, unix.Fstatat(int(d), name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	return statOf(&st, err)
}

// list returns the names in the directory, in no order, and its extended attributes. It is called
// once.
func (d directory) list() (names []string, xattrs map[string][]byte, err error) {
	pooled := listBuffers.Get().(*[32 << 10]byte)
	defer listBuffers.Put(pooled)
	for {
		n, err := retry(func() (int, error) { return unix.ReadDirent(int(d), pooled[:]) })
		if err != nil {
			return nil, nil, err
		}
		if n <= 0 {
			break
		}
		_, _, names = unix.ParseDirent(pooled[:n], -1, names)
	}
	xattrs, err = descriptor(d).xattrs()
	return names, xattrs, err
}

// listBuffers are the buffers of list. Clearing a new one would take longer than listing most
// directories.
var listBuffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// readlink returns the target of a symbolic link.
func (d directory) readlink(name string) (string, error) {
	for buf := make([]byte, 128); ; buf = make([]byte, 2*len(buf)) {
		n, err := retry(func() (int, error) { return unix.Readlinkat(int(d), name, buf) })
		if err != nil {
			return "", err
		}
		if n < len(buf) {
			return string(buf[:n]), nil
		}
	}
}

// Close closes the file.
func (f descriptor) Close() error { return unix.Close(int(f)) }

// readAt reads from offset off on, as io.ReaderAt, but perhaps less than fits into p.
func (f descriptor) readAt(p []byte, off int64) (int, error) {
	n, err := retry(func() (int, error) { return unix.Pread(int(f), p, off) })
	switch {
	case err != nil:
		return 0, os.NewSyscallError("read", err)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// find returns where the next data or hole is, as whence says.
func (f descriptor) find(off int64, whence int) (int64, error) { return unix.Seek(int(f), off, whence) }

// lookAt describes the file as it is now.
func (f descriptor) lookAt() (fileStat, error) {
	var st unix.Stat_t
	_, err := retry(func() (int, error) { return 0, unix.Fstat(int(f), &st) })
	return statOf(&st, err)
}

func retry(call func() (int, error)) (int, error) {
	for {
		if n, err := call(); !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

func statOf(st *unix.Stat_t, err error) (fileStat, error) {
	if err != nil {
		return fileStat{}, err
	}
	return fileStat{
		id:     FileID{Dev: uint64(st.Dev), Ino: st.Ino},
		mode:   posix.FileMode(uint32(st.Mode)),
		links:  uint64(st.Nlink),
		uid:    st.Uid,
		gid:    st.Gid,
		size:   st.Size,
		mtime:  time.Unix(st.Mtim.Unix()),
		atime:  time.Unix(st.Atim.Unix()),
		ctime:  time.Unix(st.Ctim.Unix()),
		sparse: st.Blocks*512 < st.Size,
		rdev:   posix.Device(unix.Major(uint64(st.Rdev)), unix.Minor(uint64(st.Rdev))), // on Darwin the numbers lie otherwise
	}, nil
}

// xattrs returns the extended attributes user.* of the file: none on a file system that knows none.
func (f descriptor) xattrs() (map[string][]byte, error) {
	fd := int(f)
	list, err := grow(func(p []byte) (int, error) { return unix.Flistxattr(fd, p) })
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EOPNOTSUPP) {
		return nil, nil
	}
	if err != nil || len(list) == 0 {
		return nil, err
	}
	attrs := make(map[string][]byte)
	for name := range bytes.SplitSeq(bytes.TrimSuffix(list, []byte{0}), []byte{0}) {
		if !strings.HasPrefix(string(name), userXattr) {
			continue
		}
		value, err := grow(func(p []byte) (int, error) { return unix.Fgetxattr(fd, string(name), p) })
		if err != nil {
			return nil, err
		}
		attrs[string(name)] = value
	}
	return attrs, nil
}

// grow calls a function that fills a buffer, and fails with ERANGE while that is too small.
func grow(call func([]byte) (int, error)) ([]byte, error) {
	var small [256]byte
	for buf := small[:]; ; {
		n, err := call(buf)
		switch {
		case err == nil:
			return bytes.Clone(buf[:n]), nil
		case errors.Is(err, unix.EINTR):
		case !errors.Is(err, unix.ERANGE) || len(buf) > 1<<20:
			return nil, err
		default:
			buf = make([]byte, 4*len(buf))
		}
	}
}
