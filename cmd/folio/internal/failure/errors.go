package failure

import "errors"

// Errors of names on the command line.
var (
	ErrNoVolume      = errors.New("no such volume")
	ErrIsVolume      = errors.New("is a volume")
	ErrNotWhole      = errors.New("is a path in a volume, and a whole volume is wanted")
	ErrInVolume      = errors.New("is a path in a volume, and not a file on disk")
	ErrSnapshot      = errors.New("is a snapshot, and snapshots stay as they are")
	ErrSnapshotOf    = errors.New("is a snapshot, and a whole volume is wanted")
	ErrNamesSnapshot = errors.New("names a snapshot of a volume, and not a file on disk")
	ErrInside        = errors.New("names a directory from within: write the name that it has above")
	ErrNotDir        = errors.New("is not a directory")
	ErrTerminal      = errors.New("is a terminal")
)

// Errors of new volumes, archives and directories whose name is taken.
var (
	ErrVolumeExists = errors.New("exists already")
	ErrSameFile     = errors.New("is source and volume at once")
	ErrSourceVolume = errors.New("is the volume that this comes out of")
	ErrOtherFile    = errors.New("is no volume")
	ErrNotEmpty     = errors.New("is not empty")
	ErrEmptyArchive = errors.New("is an empty archive, and the volume is not")
)

// Errors of files that a copy, a move or a link cannot replace.
var (
	ErrItself      = errors.New("is the same file")
	ErrIntoItself  = errors.New("cannot be put into itself")
	ErrJustCreated = errors.New("would replace what was put there a moment ago, under the same name")
	ErrDangling    = errors.New("is a symbolic link that leads nowhere, and nothing is written through it")
)

// Ways out that several errors share.
const (
	NothingChanged = "nothing was changed"
	SeveralFiles   = "several files need a directory to go to"
)
