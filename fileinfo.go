package folio

import (
	"io/fs"
	"time"

	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
)

// A Node is an inode: all that a volume knows of a file except its names and its content. The Sys
// method of an [fs.FileInfo] returns a *Node.
type Node struct {
	Ino   uint64 // from 1, the root directory
	Mode  uint32 // POSIX st_mode: type and permission bits
	Nlink uint32 // names; of a directory 2 and one for each directory in it
	UID   uint32
	GID   uint32
	Rdev  uint64 // of a device: st_rdev as Linux has it
	Size  int64  // bytes of content; of a symbolic link, of its target; else 0
	Holes int64  // how many of these bytes are stored nowhere and read as zeros

	Mtime, Ctime, Atime int64 // nanoseconds since 1970 UTC
}

// IsDevice reports whether n is a device. Only devices have an Rdev.
func (n *Node) IsDevice() bool {
	return n.Mode&store.ModeType == store.ModeChar || n.Mode&store.ModeType == store.ModeBlock
}

// IsRegular reports whether n is a regular file.
func (n *Node) IsRegular() bool { return n.Mode&store.ModeType == store.ModeRegular }

// A fileInfo describes a file at the moment when it was asked for.
type fileInfo struct {
	name string
	node Node
}

func newFileInfo(name string, n *store.Node) *fileInfo {
	return &fileInfo{name, Node{
		Ino: uint64(n.Ino), Mode: n.Mode, Nlink: n.Nlink, UID: n.UID, GID: n.GID, Rdev: n.Rdev, Size: n.Size, Holes: n.Holes,
		Mtime: n.Mtime, Ctime: n.Ctime, Atime: n.Atime,
	}}
}

var _ fs.FileInfo = (*fileInfo)(nil)

func (i *fileInfo) Name() string       { return i.name }
func (i *fileInfo) Size() int64        { return i.node.Size }
func (i *fileInfo) Mode() fs.FileMode  { return fileMode(i.node.Mode) }
func (i *fileInfo) ModTime() time.Time { return time.Unix(0, i.node.Mtime) }
func (i *fileInfo) IsDir() bool        { return store.TypeOf(i.node.Mode) == store.Dir }
func (i *fileInfo) Sys() any           { return &i.node }
func (i *fileInfo) String() string     { return fs.FormatFileInfo(i) }

// typeModes are the type bits of fs.FileMode for each store.Type.
var typeModes = [...]fs.FileMode{
	0:             fs.ModeIrregular,
	store.File:    0,
	store.Dir:     fs.ModeDir,
	store.Symlink: fs.ModeSymlink,
	store.Char:    fs.ModeDevice | fs.ModeCharDevice,
	store.Block:   fs.ModeDevice,
	store.Fifo:    fs.ModeNamedPipe,
	store.Socket:  fs.ModeSocket,
}

// The bits of st_mode above the permissions.
const (
	modeSetuid = posix.ModeSetuid
	modeSetgid = posix.ModeSetgid
)

// fileMode converts POSIX st_mode.
func fileMode(m uint32) fs.FileMode { return posix.FileMode(m) }

// posixMode is the inverse of fileMode. ok reports whether a volume knows the type.
func posixMode(mode fs.FileMode) (m uint32, ok bool) { return posix.Mode(mode) }

func mustBeRegular(mode uint32) error {
	switch store.TypeOf(mode) {
	case store.File:
		return nil
	case store.Dir:
		return ErrIsDirectory
	}
	return ErrNotRegular
}

// openable returns an error if an existing file cannot be opened with flag.
func openable(typ store.Type, flag int) error {
	switch {
	case typ != store.Dir && flag&posix.Directory != 0:
		return ErrNotDirectory
	case typ == store.Dir && (!posix.Reading(flag) || flag&(posix.Create|posix.Truncate) != 0):
		return ErrIsDirectory
	case typ == store.Socket:
		return ErrNotRegular
	}
	return nil
}
