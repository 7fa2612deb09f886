//go:build linux || darwin

package disk

import (
	"bytes"
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// control calls fn with the descriptor of an open file, again if a signal has interrupted it.
func control(f *os.File, fn func(fd int) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		_, failed = retry(func() (int, error) { return 0, fn(int(fd)) })
	})
	return errors.Join(err, failed)
}

// RemoveXattr removes an extended attribute of an open file.
func RemoveXattr(f *os.File, attr string) error {
	return control(f, func(fd int) error { return unix.Fremovexattr(fd, attr) })
}

// SetXattr sets an extended attribute of an open file.
func SetXattr(f *os.File, attr string, value []byte) error {
	return control(f, func(fd int) error { return unix.Fsetxattr(fd, attr, value, 0) })
}

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
	err = control(f, func(fd int) (err error) {
		attrs, err = fdXattrs(fd)
		return err
	})
	return attrs, err
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
