// Package posix is what the operating system calls things that a file system of our own has, too: numbers of errors, flags of
// open, whose process it is. It does nothing to files.
package posix

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// An Error is an error with a text of ours. It matches the errno of the system that means the same, and whatever that matches.
type Error struct {
	text  string
	errno syscall.Errno
	also  error // matches, too; or nil
}

func (e *Error) Error() string { return e.text }

// Is makes errors.Is(err, syscall.EISDIR) true, and the like.
func (e *Error) Is(target error) bool {
	return target == e.errno || errors.Is(e.errno, target) || target == e.also
}

// The errors. Most are errnos themselves, since os.IsNotExist and the like, which programs still use, know nothing else.
var (
	ErrAttribute    error = &Error{text: "no such attribute", errno: errnoAttribute, also: fs.ErrNotExist}
	ErrBadHandle    error = syscall.EBADF
	ErrBusy         error = syscall.EBUSY
	ErrExist        error = syscall.EEXIST
	ErrInvalid      error = &Error{text: "invalid argument", errno: syscall.EINVAL, also: fs.ErrInvalid}
	ErrIsDirectory  error = syscall.EISDIR
	ErrNameTooLong  error = syscall.ENAMETOOLONG
	ErrNotDirectory error = syscall.ENOTDIR
	ErrNotEmpty     error = syscall.ENOTEMPTY
	ErrNotExist     error = syscall.ENOENT
	ErrNotPermitted error = syscall.EPERM
	ErrTooManyLinks error = syscall.ELOOP
)

// Named returns what the system calls an error of package fs; any other error as it is.
func Named(err error) error {
	switch err {
	case fs.ErrExist:
		return ErrExist
	case fs.ErrInvalid:
		return ErrInvalid
	case fs.ErrNotExist:
		return ErrNotExist
	}
	return err
}

// Full returns an error that means ENOSPC and says it in other words, ReadOnly one that means EROFS, TooLarge one that means EFBIG, Busy
// one that means EBUSY.
func Full(text string) error     { return &Error{text: text, errno: syscall.ENOSPC} }
func ReadOnly(text string) error { return &Error{text: text, errno: syscall.EROFS} }
func TooLarge(text string) error { return &Error{text: text, errno: syscall.EFBIG} }
func Busy(text string) error     { return &Error{text: text, errno: syscall.EBUSY} }

// The flags of open.
const (
	ReadWrite = os.O_RDWR
	WriteOnly = os.O_WRONLY
	Append    = os.O_APPEND
	Create    = os.O_CREATE
	Exclusive = os.O_EXCL
	Sync      = os.O_SYNC
	Truncate  = os.O_TRUNC
)

// Readable and Writable tell what a flag allows.
func Readable(flag int) bool { return flag&(os.O_WRONLY|os.O_RDWR) != os.O_WRONLY }
func Writable(flag int) bool { return flag&(os.O_WRONLY|os.O_RDWR) != os.O_RDONLY }

// LinkError is the error of an operation on two paths.
func LinkError(op, oldname, newname string, err error) error {
	return &os.LinkError{Op: op, Old: oldname, New: newname, Err: err}
}

// Owner returns whose files this process makes; 0 where the system has no such numbers.
func Owner() (uid, gid uint32) { return uint32(max(0, os.Geteuid())), uint32(max(0, os.Getegid())) }
