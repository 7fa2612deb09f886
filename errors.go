package folio

import (
	"context"
	"errors"
	"io/fs"

	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/store"
)

// Errors of opening a volume. Their *fs.PathError names the volume's file.
var (
	// ErrNotVolume says that a SQLite database belongs to another application.
	ErrNotVolume = store.ErrNotVolume
	// ErrNewerVersion says that the volume was made by a later version of Folio.
	ErrNewerVersion = store.ErrNewerVersion
)

// Errors of names, as operating systems know them. Each matches the errno that means the same, by
// errors.Is and by errors.As with a syscall.Errno, and so does what matches fs.ErrNotExist,
// fs.ErrExist or fs.ErrInvalid. As those of os.Root, ErrEscapes, fs.ErrClosed and the error of an
// empty name have no errno.
var (
	ErrNotDirectory = posix.ErrNotDirectory
	ErrIsDirectory  = posix.ErrIsDirectory
	ErrNotRegular   = posix.NotRegular("not a regular file")
	// ErrEscapes says that a name, or a symbolic link on its way, leads out of the volume.
	ErrEscapes = errors.New("path escapes from parent")
	// ErrTooManyLinks says that a name leads through more than 40 symbolic links, such as those of a loop.
	ErrTooManyLinks = posix.ErrTooManyLinks
	ErrNameTooLong  = posix.ErrNameTooLong
	ErrNotEmpty     = posix.ErrNotEmpty

	errEmptyPath = errors.New("empty path")
)

// Errors of writing. All but ErrLogLeft match an errno: EROFS, EBUSY, EDEADLK and ENOSPC.
var (
	// ErrReadOnly says that the volume cannot be changed: it was opened so, or its file or disk is read-only.
	ErrReadOnly = store.ErrReadOnly
	// ErrBusy says that another process was in the way for longer than Options.BusyTimeout.
	ErrBusy = store.ErrBusy
	// ErrInUpdate says that the function that Update or Merge called has called the volume to
	// change it. It would wait for itself: it must use the Tx that Update gave to it. The error
	// matches EDEADLK.
	ErrInUpdate = posix.Deadlock("the call would wait for the Update that it is a part of; use its Tx")
	// ErrFull says that there is no room for what was to be written.
	ErrFull = store.ErrFull
	// ErrLogLeft says that Close has left the log of the volume next to it, as there is no room to
	// copy it. Nothing is lost: what was written is in the two files together, and the next Open
	// finds it.
	ErrLogLeft = store.ErrLogLeft
)

// Errors of reading. They match EIO and EFBIG.
var (
	// ErrDamaged says that the volume contradicts itself; Check finds out where.
	ErrDamaged = store.ErrDamaged
	// ErrTooLarge says that a file is larger than a volume can hold or, because of its holes, than what should be read into
	// memory at once.
	ErrTooLarge = store.ErrTooLarge
)

// pathError names the operation and the file, unless err names one already: the volume's own, or that of a source.
func pathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return err
	}
	return &fs.PathError{Op: op, Path: name, Err: posix.Named(err)}
}

// volumeError names the operation and the volume, unless err names a file already or is that of a
// context.
func (v *FS) volumeError(op string, err error) error {
	if isDone(err) {
		return err
	}
	return pathError(op, v.path, err)
}

// isDone reports whether err is that of a context that is done.
func isDone(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// linkError names the operation and both files.
func linkError(op, oldname, newname string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return err
	}
	return posix.LinkError(op, oldname, newname, posix.Named(err))
}
