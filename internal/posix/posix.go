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

// The errors.
var (
	ErrAttribute    error = &Error{text: "no such attribute", errno: errnoAttribute, also: fs.ErrNotExist}
	ErrBadHandle    error = &Error{text: "bad file descriptor", errno: syscall.EBADF}
	ErrBusy         error = &Error{text: "device or resource busy", errno: syscall.EBUSY}
	ErrIsDirectory  error = &Error{text: "is a directory", errno: syscall.EISDIR}
	ErrNameTooLong  error = &Error{text: "file name too long", errno: syscall.ENAMETOOLONG}
	ErrNotDirectory error = &Error{text: "not a directory", errno: syscall.ENOTDIR}
	ErrNotEmpty     error = &Error{text: "directory not empty", errno: syscall.ENOTEMPTY}
	ErrNotPermitted error = &Error{text: "operation not permitted", errno: syscall.EPERM}
	ErrTooManyLinks error = &Error{text: "too many levels of symbolic links", errno: syscall.ELOOP}
)

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
