//go:build linux || darwin

package source

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/internal/posix"
)

const (
	openFlags = os.O_RDONLY | unix.O_NONBLOCK // a fifo put in the way must not block
	seekData  = unix.SEEK_DATA
	seekHole  = unix.SEEK_HOLE
	errNoMore = unix.ENXIO
)

// statOf describes the file name in the directory dir.
func statOf(info fs.FileInfo, _, _ string) fileStat {
	st := info.Sys().(*syscall.Stat_t)
	atime, ctime := timesOf(st)
	return fileStat{
		id:     FileID{Dev: uint64(st.Dev), Ino: st.Ino},
		mode:   info.Mode(),
		links:  uint64(st.Nlink),
		uid:    st.Uid,
		gid:    st.Gid,
		size:   st.Size,
		mtime:  info.ModTime(),
		atime:  atime,
		ctime:  ctime,
		sparse: st.Blocks*512 < st.Size,
		rdev:   posix.Device(unix.Major(uint64(st.Rdev)), unix.Minor(uint64(st.Rdev))), // on Darwin the numbers lie otherwise
	}
}

// xattrsOf returns the extended attributes user.* of an open file: none on a file system that knows
// none.
func xattrsOf(f *os.File) (attrs map[string][]byte, err error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	controlErr := conn.Control(func(fd uintptr) { attrs, err = fdXattrs(int(fd)) })
	return attrs, errors.Join(err, controlErr)
}

func fdXattrs(fd int) (map[string][]byte, error) {
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
