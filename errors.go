package folio

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
)

// Errors of opening a volume. Their *fs.PathError names the volume's file.
var (
	// ErrNotVolume says that a SQLite database belongs to another application.
	ErrNotVolume = store.ErrNotVolume
	// ErrNewerVersion says that the volume was made by a later version of Folio.
	ErrNewerVersion = store.ErrNewerVersion
)

// Errors of names, as operating systems know them. Each matches the errno that means the same, by
// errors.Is and by errors.As with a syscall.Errno. So does each error that matches fs.ErrNotExist,
// fs.ErrExist or fs.ErrInvalid. As with os.Root, ErrEscapes, fs.ErrClosed and the error of an empty
// name have no errno.
var (
	// ErrNotDirectory says that a file that is no directory is used as one. It matches ENOTDIR.
	ErrNotDirectory = posix.ErrNotDirectory
	// ErrIsDirectory says that a directory is used as a file. It matches EISDIR.
	ErrIsDirectory = posix.ErrIsDirectory
	// ErrNotRegular says that a device, a fifo or a socket has no content. It matches ENXIO.
	ErrNotRegular = posix.NotRegular("not a regular file")
	// ErrEscapes says that a name, or a symbolic link on its way, leads out of the volume.
	ErrEscapes = errors.New("path escapes from parent")
	// ErrTooManyLinks says that a name leads through more than 40 symbolic links, for example
	// through a loop. It matches ELOOP.
	ErrTooManyLinks = posix.ErrTooManyLinks
	// ErrNameTooLong says that a name has more than 765 bytes, or a path more than 32767. It
	// matches ENAMETOOLONG.
	ErrNameTooLong = posix.ErrNameTooLong
	// ErrNotEmpty says that a directory to be removed or replaced is not empty. It matches
	// ENOTEMPTY.
	ErrNotEmpty = posix.ErrNotEmpty

	errEmptyPath = errors.New("empty path")
	errAbsolute  = fmt.Errorf("%w: names begin at the root without a slash", ErrEscapes)
)

// Errors of writing. All but ErrWALRemains match an errno: EROFS, EBUSY and ENOSPC.
var (
	// ErrReadOnly says that the volume cannot be changed: it was opened so, or its file or disk is
	// read-only.
	ErrReadOnly = store.ErrReadOnly
	// ErrBusy says that a transaction of another process, or the function of an Update, has run for
	// longer than Options.BusyTimeout. It may be the Update that the call is made in: within the
	// function of [Volume.Update], changes must be made by its Tx. Close fails so if the function
	// of a View runs for longer than that.
	ErrBusy = store.ErrBusy
	// ErrFull says that there is no room on the disk, or within Options.MaxSize.
	ErrFull = store.ErrFull
	// ErrWALRemains says that Close has left the write-ahead log next to the volume, because the
	// disk has no space to copy it into the volume. Nothing is lost: the two files together hold
	// all changes, and the next Open finds them.
	ErrWALRemains = store.ErrWALRemains
)

// ErrUnreachable says that the server of a volume cannot be reached, or that the connection to it
// broke: package pgstore lists the outcomes. It matches ETIMEDOUT.
var ErrUnreachable = store.ErrUnreachable

// errUpdateRuns is the ErrBusy of a call that has waited for the function of an Update.
var errUpdateRuns = fmt.Errorf("%w: another transaction has run for longer than the busy timeout, or the call was made "+
	"within the function of Update, which must use its *Tx", ErrBusy)

// errViewRuns is the ErrBusy of a Close that has waited for the function of a View.
var errViewRuns = fmt.Errorf("%w: the function of a View has run for longer than the busy timeout, or Close was called "+
	"within it", ErrBusy)

// errNil is the error of a call with a nil argument that the call needs.
var errNil = fmt.Errorf("%w: an argument is nil", posix.ErrInvalid)

// Errors of reading. They match EIO and EFBIG.
var (
	// ErrDamaged says that the volume contradicts itself. [Volume.Check] tells where.
	ErrDamaged = store.ErrDamaged
	// ErrTooLarge says that a file would be larger than a volume can hold. ReadFile returns it for
	// a file that is too large for memory because of its holes.
	ErrTooLarge = store.ErrTooLarge
)

// pathError names the operation and the file, unless err names one already: the volume's own, or
// that of a source.
func pathError(op, name string, err error) error { return posix.PathError(op, name, err) }

// storeError is the error of a store for a method that names its file: when the volume is closed,
// that is all there is to say of it.
func storeError(err error) error {
	if err != nil && errors.Is(err, fs.ErrClosed) {
		return fs.ErrClosed
	}
	return err
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

func isMissing(err error) bool  { return errors.Is(err, fs.ErrNotExist) }
func isExisting(err error) bool { return errors.Is(err, fs.ErrExist) }

// errMode refuses modes as os.Root does.
var errMode = errors.New("unsupported file mode")
