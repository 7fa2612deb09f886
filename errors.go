package folio

import (
	"errors"
	"io/fs"

	"github.com/foliofs/folio/store"
)

// Errors of opening a volume. Their *fs.PathError names the volume's file.
var (
	// ErrNotVolume says that a SQLite database belongs to another application.
	ErrNotVolume = store.ErrNotVolume
	// ErrNewerVersion says that the volume was made by a later version of Folio.
	ErrNewerVersion = store.ErrNewerVersion
)

// Errors of names, as operating systems know them. Besides these there are fs.ErrNotExist, fs.ErrExist, fs.ErrInvalid
// and fs.ErrClosed.
var (
	ErrNotDirectory = errors.New("not a directory")
	ErrIsDirectory  = errors.New("is a directory")
	ErrNotRegular   = errors.New("not a regular file")
	// ErrEscapes says that a name, or a symbolic link on its way, leads out of the volume.
	ErrEscapes = errors.New("path escapes from parent")
	// ErrTooManyLinks says that a name leads through more than 40 symbolic links, such as those of a loop.
	ErrTooManyLinks = errors.New("too many levels of symbolic links")
	ErrNameTooLong  = errors.New("file name too long")
)

// Errors of reading.
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
	return &fs.PathError{Op: op, Path: name, Err: err}
}
