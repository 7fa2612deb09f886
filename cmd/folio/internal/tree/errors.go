package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
)

// Errors of a file that cannot be a source.
var (
	ErrEmpty    = errors.New("is an empty file")
	ErrKind     = errors.New("is not a directory, nor a tar, zip or SQLite archive")
	ErrBlank    = errors.New("begins with zeros, and is no archive: an empty tar archive is 1,024 to 10,240 zeros")
	ErrVolume   = errors.New("is a Folio volume already")
	ErrDatabase = errors.New("is a SQLite database, but no SQLite archive")
	ErrNoStream = errors.New("cannot be written to standard output") // but to a file
	ErrSeek     = errors.New("cannot be read from a pipe")
	ErrNotDir   = errors.New("is not a directory")
)

// Errors of one entry. They come inside an *EntryError.
var (
	ErrName      = errors.New("unsafe name")
	ErrBackslash = fmt.Errorf("%w: its backslash may stand between two names", ErrName)
	ErrDuplicate = errors.New("appears twice")
	ErrRepeated  = fmt.Errorf("%w", ErrDuplicate) // in a tar archive that is read once
	ErrParent    = errors.New("lies below a name that is not a directory")
	ErrLink      = errors.New("is a hard link to a name that is no earlier file of the archive")
	ErrExcluded  = errors.New("is a hard link to a file that was left out")
	ErrVanished  = errors.New("vanished while it was read")
	ErrChanged   = errors.New("changed while it was read")
	ErrMeanwhile = errors.New("was changed by another program meanwhile") // in the volume
	ErrTooLarge  = errors.New("goes beyond the size limit")
	ErrTruncated = errors.New("the archive ends too early")
	ErrDamaged   = errors.New("the archive is damaged")
	ErrUnpack    = fmt.Errorf("%w", ErrDamaged) // a tar or a zip archive
	ErrChecksum  = errors.New("wrong checksum")
	ErrEncrypted = errors.New("is encrypted")
	ErrOverlap   = errors.New("shares its bytes with other entries")
	ErrMethod    = errors.New("is compressed by a method that is not known here")
	ErrTarget    = errors.New("is a symbolic link with a target that is too long")
	ErrOwner     = errors.New("has an owner beyond 32 bits")
	ErrType      = errors.New("has a type that a volume cannot hold")
	ErrSocket    = errors.New("a socket")
)

// A CompressedError says that a file is compressed in a way that only another program can undo.
type CompressedError struct {
	Name    string
	Program string // a command that writes the content of the file that follows to standard output
}

func (e *CompressedError) Error() string { return fmt.Sprintf("is compressed by %s", e.Name) }

// An EntryError says which entry of a source something is wrong with.
type EntryError struct {
	Name string
	Err  error
}

// Error escapes the name: an archive must not speak to the terminal.
func (e *EntryError) Error() string {
	name := strconv.Quote(e.Name)
	return name[1:len(name)-1] + ": " + e.Err.Error()
}

func (e *EntryError) Unwrap() error { return e.Err }

// WrapEntry names the entry in an error, unless the error names one already.
func WrapEntry(name string, err error) error {
	if err == nil {
		return nil
	}
	if isEntryError(err) {
		return err
	}
	return &EntryError{Name: name, Err: err}
}

func isEntryError(err error) bool {
	_, ok := errors.AsType[*EntryError](err)
	return ok
}

// OpenError names the path, unless err does so already.
func OpenError(path string, err error) error {
	if _, ok := err.(*fs.PathError); ok {
		return err
	}
	return &fs.PathError{Op: "open", Path: path, Err: err}
}
