//go:build linux || darwin

package disk

import (
	"bytes"
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// fdXattrs returns the extended attributes of an open file that KeepsXattr reports: none on a file
// system that knows none.
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
		if !tree.KeepsXattr(string(name)) {
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

// Xattrs returns the extended attributes of an open file that KeepsXattr reports.
func Xattrs(f *os.File) (attrs map[string][]byte, err error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	failed := conn.Control(func(fd uintptr) { attrs, err = fdXattrs(int(fd)) })
	return attrs, errors.Join(failed, err)
}

// grow calls a function that fills a buffer, and fails with ERANGE while that is too small.
func grow(call func([]byte) (int, error)) ([]byte, error) {
	var small [256]byte
	for buf := small[:]; ; buf = make([]byte, 4*len(buf)) {
		n, err := retry(func() (int, error) { return call(buf) })
		if err == nil {
			return bytes.Clone(buf[:n]), nil
		}
		if !errors.Is(err, unix.ERANGE) || len(buf) > 1<<20 {
			return nil, err
		}
	}
}
