package osfile

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"
)

// Full reports whether err says that there is no space: on the disk, within a quota, or within the
// limit to the size of a file.
func Full(err error) bool {
	return slices.ContainsFunc(fullErrors, func(full syscall.Errno) bool { return errors.Is(err, full) })
}

// Unwritable reports whether err says that a file cannot be written to, which may be there to read:
// its permissions forbid it, or its disk is read-only.
func Unwritable(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}
