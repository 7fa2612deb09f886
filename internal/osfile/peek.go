package osfile

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Exists reports whether there is a file of that name, and its size. It opens nothing.
func Exists(name string) (size int64, ok bool, err error) {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	return info.Size(), true, nil
}

// NoSuchName reports whether err says that no file can have that name: it is missing, a file stands
// where a directory should, the name is too long, or symbolic links lead in a circle.
func NoSuchName(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) ||
		errors.Is(err, syscall.ENAMETOOLONG) || errors.Is(err, syscall.ELOOP)
}

// ReadFirst reads the first bytes of a file into p, fewer without an error if the file has fewer.
// It is meant for the companions of a database; the database itself is read under its locks.
func ReadFirst(name string, p []byte) (n int, err error) {
	f, err := Open(name, os.O_RDONLY, 0)
	if err != nil {
		return 0, err
	}
	n, err = f.ReadAt(p, 0)
	if err == io.EOF {
		err = nil
	}
	return n, cmp.Or(err, f.Close())
}
