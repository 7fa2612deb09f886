// Package target writes the trees that folio export gives back, into a directory on disk.
//
// # Containment
//
// Every name is a single element, and every file is made by an os.Root of its directory. So nothing
// is written outside of the directory of the Tree, whatever names and links a volume holds, and
// even if another process replaces directories by links meanwhile. A file in the way is removed or
// replaced by its name, if the caller asked for that, and never written through.
//
// # Order
//
// The caller calls Enter, adds the files of the directory, and calls Leave. Workers write small
// files meanwhile. A directory gets its times and its mode after the last file in it is complete.
package target

import (
	"errors"
	"io/fs"
	"time"
)

// Options say how to write.
type Options struct {
	// Replace lets a file replace another file of its name. A directory that is there is added
	// to. A regular file is replaced when its new content is complete. Without Replace and Skip, a
	// name that is taken is fs.ErrExist.
	Replace bool
	// Skip passes over a file whose name is taken. A directory that is there is added to.
	Skip bool
	// Strict does not let a directory replace another file. The error is ErrNotDir.
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

// An Attr holds the attributes of a file.
type Attr struct {
	Mode         fs.FileMode
	UID, GID     uint32
	Mtime, Atime time.Time // if both are zero, those of writing
	Rdev         uint64    // of a device, as Linux has it
	Size         int64     // of a regular file
	Holes        bool      // some of it is zeros that need no space
	Xattrs       map[string][]byte
	// Keep lets a directory that is there stay as it is, and a regular file keep its mode when its
	// content is replaced.
	Keep bool
}

// Op is the Op of every *fs.PathError about a file of the tree.
const Op = "export"

var (
	// ErrName says that a file here cannot have the name.
	ErrName = errors.New("unsafe name")
	// ErrInTheWay says that a directory has the name that a file should get.
	ErrInTheWay = errors.New("a directory is in the way")
	// ErrNotDir says that something else has the name that a directory should get.
	ErrNotDir = errors.New("is not a directory")
)
