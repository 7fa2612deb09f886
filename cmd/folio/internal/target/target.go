// Package target writes the trees that folio export gives back, into a directory on disk.
//
// # Containment
//
// Every name is a single element, and every file is made by an os.Root of the directory that it belongs into: whatever
// names and links a volume holds, and whoever swaps directories for links meanwhile, nothing is written outside of the
// directory that Tree was given. What is in the way is removed or replaced by its name, if that was asked for, and never
// written through.
//
// # Order
//
// The caller walks: Enter, what is in the directory, Leave. Small files are written by workers meanwhile. A directory gets
// its times and its mode after the last file in it is complete.
package target

import (
	"errors"
	"io/fs"
	"time"
)

// Options say how to write.
type Options struct {
	// Replace takes away what is in the way of a file; a directory stays and is added to. A regular file is replaced at
	// once, when its new content is complete. Without Replace and Skip, what is in the way is fs.ErrExist.
	Replace bool
	// Skip leaves what is in the way of a file, and passes over that; a directory is added to.
	Skip bool
	// Strict does not let a directory take the place of what is none: that is ErrNotDir.
	Strict bool
	// Owner gives files the owners they had. Without it they belong to who runs this, and those that had another owner
	// lose setuid and setgid.
	Owner bool
	// Warn is told about what cannot be made here, by its path; nil means not to tell.
	Warn func(name, what string)
}

// An Attr is what there is to know about a file besides its name and its content.
type Attr struct {
	Mode         fs.FileMode
	UID, GID     uint32
	Mtime, Atime time.Time // if both are zero, those of writing
	Rdev         uint64    // of a device, as Linux has it
	Size         int64     // of a regular file
	Holes        bool      // some of it is zeros that need no space
	Xattrs       map[string][]byte
	// Keep lets a directory that is there stay as it is, and a regular file keep its mode when its content is replaced.
	Keep bool
}

// Op is the Op of every *fs.PathError about a file of the tree.
const Op = "export"

var (
	// ErrName says that a name is none that a file here may have.
	ErrName = errors.New("unsafe name")
	// ErrInTheWay says that a directory has the name that a file should get.
	ErrInTheWay = errors.New("a directory is in the way")
	// ErrNotDir says that something else has the name that a directory should get.
	ErrNotDir = errors.New("is not a directory")
)
