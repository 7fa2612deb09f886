package store

import "fmt"

// An Ino is the number of an inode, from 1 to MaxIno. A store may show files of which it keeps no
// row under higher numbers.
type Ino uint64

// Root is the inode of the root directory.
const Root Ino = 1

// Valid reports whether an inode can have that number.
func (i Ino) Valid() bool { return i >= Root && i <= MaxIno }

// A Node is an inode: everything about a file but its names and its content.
type Node struct {
	Ino   Ino
	Mode  uint32 // POSIX st_mode: type and permission bits
	Nlink uint32 // names; of a directory 2 and one for each directory in it
	UID   uint32
	GID   uint32
	Rdev  uint64 // of a device: st_rdev as Linux has it
	Size  int64  // bytes of content; of a symbolic link, of its target; else 0
	Holes int64  // how many of them are stored nowhere and read as zeros

	Mtime, Ctime, Atime int64 // nanoseconds since 1970 UTC
}

// A NodeRow holds the columns of a row of table node after the number, whether or not an inode can
// have them.
type NodeRow struct {
	Mode, Nlink, UID, GID, Size, Holes, Mtime, Ctime, Atime, Rdev int64
}

// Node makes an inode of a row. fit reports whether all numbers fit; if not, some are cut off.
// Node.Plausible checks whether the numbers make sense together.
func (r *NodeRow) Node(ino Ino) (n Node, fit bool) {
	n = Node{
		Ino: ino, Mode: uint32(r.Mode), Nlink: uint32(r.Nlink), UID: uint32(r.UID), GID: uint32(r.GID),
		Size: r.Size, Holes: r.Holes, Mtime: r.Mtime, Ctime: r.Ctime, Atime: r.Atime, Rdev: uint64(r.Rdev),
	}
	return n, r.Mode>>ModeBits|(r.Nlink|r.UID|r.GID)>>32 == 0
}

// Plausible returns an error that matches ErrDamaged unless the type of n is known, its size one
// that a volume can hold, and its holes no more than there is.
func (n *Node) Plausible() error {
	switch {
	case TypeOf(n.Mode) == 0:
		return Damaged("inode %d has no valid type: mode 0%o", n.Ino, n.Mode)
	case n.Size < 0 || n.Size > MaxSize:
		return Damaged("inode %d has an impossible size: %d", n.Ino, n.Size)
	case n.Holes < 0 || n.Holes > n.Size:
		return Damaged("inode %d has impossible holes: %d bytes of %d", n.Ino, n.Holes, n.Size)
	}
	return nil
}

// IsDevice reports whether a node is a device, the only one to have an Rdev.
func (n *Node) IsDevice() bool { return n.Mode&ModeType == ModeChar || n.Mode&ModeType == ModeBlock }

// IsRegular reports whether a node is a regular file.
func (n *Node) IsRegular() bool { return n.Mode&ModeType == ModeRegular }

// ModeBits is how many bits of Node.Mode mean something.
const ModeBits = 16

// The type bits of Node.Mode.
const (
	ModeType    = 0o170000
	ModeFifo    = 0o010000
	ModeChar    = 0o020000
	ModeDir     = 0o040000
	ModeBlock   = 0o060000
	ModeRegular = 0o100000
	ModeSymlink = 0o120000
	ModeSocket  = 0o140000
)

// A Type is the type of a file as a directory entry tells it.
type Type uint8

// The types, by the numbers that a volume stores.
const (
	File Type = 1 + iota
	Dir
	Symlink
	Char
	Block
	Fifo
	Socket
)

// String returns the type as a word, for example "symlink".
func (t Type) String() string {
	words := []string{"none", "file", "dir", "symlink", "char", "block", "fifo", "socket"}
	if int(t) >= len(words) {
		return fmt.Sprintf("Type(%d)", uint8(t))
	}
	return words[t]
}

// ValidType reports whether a number that a volume stores is one of the types.
func ValidType(n int64) bool { return n >= int64(File) && n <= int64(Socket) }

// TypeOf returns the type that st_mode tells, 0 if it tells none.
func TypeOf(mode uint32) Type {
	switch mode & ModeType {
	case ModeRegular:
		return File
	case ModeDir:
		return Dir
	case ModeSymlink:
		return Symlink
	case ModeChar:
		return Char
	case ModeBlock:
		return Block
	case ModeFifo:
		return Fifo
	case ModeSocket:
		return Socket
	}
	return 0
}

// An Entry is a name in a directory.
type Entry struct {
	Name string // bytes other than '/' and NUL; need not be UTF-8
	Ino  Ino
	Type Type
}

// An Xattr is an extended attribute of an inode.
type Xattr struct {
	Name  string
	Value []byte
}

// SameAttributes reports whether two inodes have the same attributes, apart from Ctime.
func (n *Node) SameAttributes(b *Node) bool {
	return n.Mode == b.Mode && n.UID == b.UID && n.GID == b.GID && n.Rdev == b.Rdev && n.Mtime == b.Mtime && n.Atime == b.Atime
}
