package osfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Errors of this package. Each arrives inside a *fs.PathError, except ErrFault, which a *FaultError
// wraps.
var (
	// ErrLocked: another open file, in this process or elsewhere, holds a lock that conflicts.
	ErrLocked = errors.New("file is locked")

	// ErrNoLocks: the file system refuses all locks of byte ranges, as some network file systems
	// do.
	ErrNoLocks = errors.New("the file system has no locks")

	// ErrNotRegular: the name is a directory, a pipe, a device; the message says which.
	ErrNotRegular = errors.New("not a regular file")

	// ErrNotOpened: a directory could not be opened to be synced: the process may not read it, for
	// example, or has no descriptor left. No sync has failed.
	ErrNotOpened = errors.New("the directory could not be opened")

	// ErrNoMap: files cannot be mapped on this system, or not so much of one; the message says
	// which. Read them with ReadAt.
	ErrNoMap = errors.New("mapping files is not supported")

	// ErrFault: mapped bytes could not be read.
	ErrFault = errors.New("mapped file could not be read")
)

// A noMapError says that a part of a file could not be mapped for lack of addresses or of memory.
// It matches ErrNoMap, and the system's error.
type noMapError struct{ error }

func (e noMapError) Is(target error) bool { return target == ErrNoMap }

func (e noMapError) Unwrap() error { return e.error }

// A noLocksError is a system's word for the want of locks. It matches ErrNoLocks.
type noLocksError struct{ error }

func (e noLocksError) Error() string {
	return fmt.Sprintf("%v (%v): copy the file to a disk that has them", ErrNoLocks, e.error)
}

func (e noLocksError) Is(target error) bool { return target == ErrNoLocks }

func (e noLocksError) Unwrap() error { return e.error }

// A notOpenedError is the system's reason why a directory was not opened. It matches ErrNotOpened.
type notOpenedError struct{ error }

func (e notOpenedError) Is(target error) bool { return target == ErrNotOpened }

func (e notOpenedError) Unwrap() error { return e.error }

// A kindError refuses a file because of its type.
type kindError fs.FileMode

func (k kindError) Error() string {
	switch mode := fs.FileMode(k); {
	case mode.IsDir():
		return "is a directory"
	case mode&fs.ModeSymlink != 0:
		return "is a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "is a named pipe, not a regular file"
	case mode&fs.ModeSocket != 0:
		return "is a socket, not a regular file"
	case mode&fs.ModeDevice != 0:
		return "is a device, not a regular file"
	}
	return ErrNotRegular.Error()
}

func (k kindError) Is(target error) bool { return target == ErrNotRegular }

// pathError wraps err exactly once. An error that package os has wrapped loses its wrapping first,
// and with it the spelling of the name there. It returns nil for nil.
func pathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	var (
		pe *fs.PathError
		le *os.LinkError
		se *os.SyscallError
	)
	switch {
	case errors.As(err, &pe):
		err = pe.Err
	case errors.As(err, &le):
		err = le.Err
	case errors.As(err, &se):
		err = se.Err
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}
