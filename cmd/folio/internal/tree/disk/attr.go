package disk

import (
	"errors"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// WriteOptions say how to write.
type WriteOptions struct {
	// Dir is the directory as errors and warnings name it.
	Dir string
	// Top is the name that the entry "." gets in the directory, or "." if it is the directory
	// itself. SetTop gives the directory the attributes of the entry then.
	Top    string
	SetTop bool
	// Prepare changes the attributes of an entry before it is written. It may be nil. A file whose
	// ModTime and AccessTime are zero gets the times of writing.
	Prepare func(e *tree.Entry)
	// Keep lets a directory that is there stay as it is, and a regular file keep its mode when its
	// content is replaced.
	Keep bool
	// Before is called before an entry is written to a path. It reports whether the entry is passed
	// over. It may be nil.
	Before func(e *tree.Entry, to string) (pass bool, err error)
	// Names holds the names of files with several from From, the volume that the entries are in. It
	// may be shared by several Writers.
	Names tree.FirstNames
	From  string
	// Replace lets a file replace another file of its name. A directory that is there is added
	// to. A regular file is replaced when its new content is complete. Without Replace and Skip, a
	// name that is taken is fs.ErrExist.
	Replace bool
	// Skip passes over a file whose name is taken. A directory that is there is added to.
	Skip bool
	// Strict does not let a directory replace another file. The error is errNotDir.
	Strict bool
	// Owner gives files the owners that they had. Without it they belong to the user of the
	// process, and files that had another owner lose setuid and setgid.
	Owner bool
	// Warn is called for each file that cannot be made here, with its path. It may be nil.
	Warn func(name, what string)
	// Refused is called for each extended attribute that the disk does not take, with the path of
	// its file, by any goroutine. Without it, that is an error.
	Refused func(name, attr string, err error)
}

// Op is the Op of every *fs.PathError about a file of the tree.
const Op = "export"

var (
	errInTheWay = errors.New("a directory is in the way")
	errNotDir   = errors.New("is not a directory") // but has the name that a directory should get
)
