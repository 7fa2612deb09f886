package osfile

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// ReplacesOpen says that a file can take the name of one that is open. Here the old file must be
// closed first, by all who have it open: so a rename that succeeds tells that nobody has.
const ReplacesOpen = false

// rename closes the file first: the handle of the file would keep others from replacing it.
func (f *File) rename(name string, rename func(from, to string) error) error {
	if err := f.Close(); err != nil {
		return err
	}
	if err := rename(f.name, name); err != nil {
		_ = os.Remove(f.name)
		return err
	}
	f.name, f.temp = name, false
	return nil
}

// renameOver gives a file the name of another, which must not be open: ErrLocked tells that it is.
func renameOver(from, to string) error {
	return move(from, to, windows.MOVEFILE_REPLACE_EXISTING|windows.MOVEFILE_WRITE_THROUGH)
}

func renameNoReplace(from, to string) error { return move(from, to, windows.MOVEFILE_WRITE_THROUGH) }

func move(from, to string, flags uint32) error {
	source, err := systemName(from)
	if err != nil {
		return err
	}
	target, err := systemName(to)
	if err != nil {
		return err
	}
	err = insist(func() error { return windows.MoveFileEx(source, target, flags) })
	if info, statErr := os.Lstat(to); statErr == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o200 != 0 &&
		(errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_SHARING_VIOLATION)) {
		return inUseError{err}
	}
	return err
}

// An inUseError is the system's error when it does not replace a file because the file is open. It
// matches ErrLocked.
type inUseError struct{ error }

func (e inUseError) Is(target error) bool { return target == ErrLocked }

func (e inUseError) Unwrap() error { return e.error }

// unlink removes a name unless it is a directory. If the file is open, its name goes with the last
// handle.
func unlink(name string) error {
	info, err := os.Lstat(name)
	if err == nil && info.IsDir() {
		return kindError(info.Mode())
	}
	return insist(func() error { return os.Remove(name) })
}
