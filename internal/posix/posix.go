// Package posix gives the operating system's names to things that Folio's file system knows, too:
// numbers of errors, flags of open, the user of the process. It does nothing to files.
package posix

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// An Error is an error with a text of ours. It matches the errno of the system that means the same,
// and whatever that matches.
type Error struct {
	text  string
	errno syscall.Errno
	also  error // matches, too; or nil
	alone bool  // does not match the errors that errno matches
}

func (e *Error) Error() string { return e.text }

// Is makes errors.Is(err, syscall.EISDIR) true, and the like.
func (e *Error) Is(target error) bool {
	return target == e.errno || !e.alone && errors.Is(e.errno, target) || target == e.also
}

// As makes errors.As(err, &errno) succeed for a syscall.Errno, as with an error of the system.
func (e *Error) As(target any) bool {
	errno, ok := target.(*syscall.Errno)
	if ok {
		*errno = e.errno
	}
	return ok
}

// The errors. Most are errnos themselves, since os.IsNotExist and the like, which programs still
// use, know nothing else.
var (
	ErrAttribute    error = &Error{text: "no such attribute", errno: errnoAttribute, also: fs.ErrNotExist}
	ErrBadHandle    error = syscall.EBADF
	ErrBusy         error = syscall.EBUSY
	ErrExist        error = syscall.EEXIST
	ErrInvalid      error = &Error{text: "invalid argument", errno: syscall.EINVAL, also: fs.ErrInvalid}
	ErrIsDirectory  error = syscall.EISDIR
	ErrNameTooLong  error = syscall.ENAMETOOLONG
	ErrNotDirectory error = errNotDirectory
	ErrNotEmpty     error = syscall.ENOTEMPTY
	ErrNotExist     error = syscall.ENOENT
	ErrNotPermitted error = syscall.EPERM
	ErrTooManyLinks error = syscall.ELOOP
	ErrTooManyNames error = syscall.EMLINK
	ErrUnsupported  error = &Error{text: "unsupported operation", errno: syscall.ENOTSUP, also: errors.ErrUnsupported}
)

// Named returns the errno for a sentinel of package fs, and any other error as it is.
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

// The functions that follow make errors with their own text and an errno: Full has ENOSPC, ReadOnly
// EROFS, Stale ESTALE, TooLarge EFBIG, Busy EBUSY, TimedOut ETIMEDOUT, Damaged EIO, NotRegular
// and NoData ENXIO.
func Full(text string) error       { return &Error{text: text, errno: syscall.ENOSPC} }
func ReadOnly(text string) error   { return &Error{text: text, errno: syscall.EROFS} }
func Stale(text string) error      { return &Error{text: text, errno: syscall.ESTALE} }
func TooLarge(text string) error   { return &Error{text: text, errno: syscall.EFBIG} }
func Busy(text string) error       { return &Error{text: text, errno: syscall.EBUSY} }
func TimedOut(text string) error   { return &Error{text: text, errno: syscall.ETIMEDOUT} }
func Damaged(text string) error    { return &Error{text: text, errno: syscall.EIO} }
func NotRegular(text string) error { return &Error{text: text, errno: syscall.ENXIO} }
func NoData(text string) error     { return &Error{text: text, errno: syscall.ENXIO} }

// The flags of open that all systems have.
const (
	ReadWrite = os.O_RDWR
	WriteOnly = os.O_WRONLY
	Append    = os.O_APPEND
	Create    = os.O_CREATE
	Exclusive = os.O_EXCL
	Sync      = os.O_SYNC
	Truncate  = os.O_TRUNC
)

// accessMode is the bits of a flag that say whether a file is opened to be read or written. All of
// them together mean on Linux that it is opened for neither, but must allow both.
const accessMode = os.O_RDONLY | os.O_WRONLY | os.O_RDWR

// Readable and Writable report whether a flag allows to read, or to write.
func Readable(flag int) bool {
	return flag&accessMode == os.O_RDONLY || flag&accessMode == os.O_RDWR
}

func Writable(flag int) bool {
	return flag&accessMode == os.O_WRONLY || flag&accessMode == os.O_RDWR
}

// Reading reports whether a flag asks for a file to be read, and no more.
func Reading(flag int) bool { return flag&accessMode == os.O_RDONLY }

// Synced reports whether each write must be synced at once.
func Synced(flag int) bool { return flag&(Sync|dataSync) != 0 }

// Refused reports whether a flag asks for a file that is none yet, or no more than a place in the
// tree: O_TMPFILE and O_PATH.
func Refused(flag int) bool {
	return flag&pathOnly != 0 || temporary != 0 && flag&temporary == temporary
}

// LinkError is the error of an operation on two paths.
func LinkError(op, oldname, newname string, err error) error {
	return &os.LinkError{Op: op, Old: oldname, New: newname, Err: err}
}

// Because returns the error of an operation on paths with another cause.
func Because(err, cause error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: e.Op, Path: e.Path, Err: cause}
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return &os.LinkError{Op: e.Op, Old: e.Old, New: e.New, Err: cause}
	}
	return cause
}

// Owner returns whose files this process makes; 0 if the system has no such numbers.
func Owner() (uid, gid uint32) { return uint32(max(0, os.Geteuid())), uint32(max(0, os.Getegid())) }

// MaxLinks is how many symbolic links a path may lead through, as SYMLOOP_MAX says for the system.
// Tests set it.
var MaxLinks = 40

// SplitPath splits a path before its last element.
func SplitPath(path string) (dir, base string) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return ".", path
	}
	return path[:i], path[i+1:]
}

// PathError names the operation and the file, unless err names one already.
func PathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return err
	}
	return &fs.PathError{Op: op, Path: name, Err: Named(err)}
}

// IgnoreMissing returns nil for an error that says that there is no such file.
func IgnoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
