// Package storetest checks that a store.Store keeps the promises of package store. Every
// implementation runs it:
//
//	func TestStore(t *testing.T) { storetest.Run(t, open) }
package storetest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/foliofs/folio/internal/store"
)

// A Volume is the expected content of a store under test, in the order in which the store must
// return it.
type Volume struct {
	Nodes    []store.Node // by inode
	Entries  []DirEntry   // by directory and name
	Contents []Content    // by inode
	Xattrs   []Xattr      // by inode and name
}

// A DirEntry is an entry of directory Dir.
type DirEntry struct {
	Dir store.Ino
	store.Entry
}

// Content is that of a file or a symbolic link. Whole chunks of zeros in it are holes.
type Content struct {
	Ino   store.Ino
	Bytes []byte
}

// An Xattr is an extended attribute of Ino.
type Xattr struct {
	Ino store.Ino
	store.Xattr
}

// A Builder takes the rows of a new volume, as that of package native does.
type Builder interface {
	Bytes(ino store.Ino, p []byte) (holes int64, err error)
	Node(n *store.Node) error
	Entry(dir store.Ino, e store.Entry) error
	Xattr(ino store.Ino, x store.Xattr) error
}

// Build gives a Builder all that v holds.
func (v *Volume) Build(b Builder) error {
	for _, c := range v.Contents {
		if _, err := b.Bytes(c.Ino, c.Bytes); err != nil {
			return err
		}
	}
	for i := range v.Nodes {
		if err := b.Node(&v.Nodes[i]); err != nil {
			return err
		}
	}
	for _, e := range v.Entries {
		if err := b.Entry(e.Dir, e.Entry); err != nil {
			return err
		}
	}
	for _, x := range v.Xattrs {
		if err := b.Xattr(x.Ino, x.Xattr); err != nil {
			return err
		}
	}
	return nil
}

// Inodes of the volume that Run lets a store hold.
const (
	inoFew   store.Ino = 2 // a directory with names that are hard to order
	inoMany  store.Ino = 3 // a directory over several pages
	inoEmpty store.Ino = 4
	inoFile  store.Ino = 5 // several chunks, one of them a hole
	inoLink  store.Ino = 6
	inoTail  store.Ino = 7 // ends in a hole
	inoNone  store.Ino = 8 // no content
	inoLast            = store.MaxIno
)

// fewNames are in the order of their bytes.
var fewNames = []string{
	"\x01", "!", "-", "A", "B", "a", "a b", "aa", "ab", "b", strings.Repeat("n", 255), strings.Repeat("o", store.MaxName),
	"z\xff\xfe", "~", "\u00e9", "\u65e5\u672c", "\xff",
}

const manyNames = 3000

// sample makes the volume.
func sample() *Volume {
	v := new(Volume)
	add := func(n store.Node) { v.Nodes = append(v.Nodes, n) }
	add(store.Node{Ino: store.Root, Mode: store.ModeDir | 0o755, Nlink: 5, Mtime: 1, Ctime: 2, Atime: 3})
	add(store.Node{Ino: inoFew, Mode: store.ModeDir | 0o1777, Nlink: 2, UID: 1<<32 - 1, GID: 1 << 31})
	add(store.Node{Ino: inoMany, Mode: store.ModeDir | 0o700, Nlink: 2, Mtime: -1, Ctime: -1 << 63, Atime: 1<<63 - 1})
	add(store.Node{Ino: inoEmpty, Mode: store.ModeDir, Nlink: 2})
	v.content(store.Node{Ino: inoFile, Mode: store.ModeRegular | 0o4755, Nlink: uint32(len(fewNames) + manyNames)}, holey())
	v.content(store.Node{Ino: inoLink, Mode: store.ModeSymlink | 0o777, Nlink: 1}, []byte("few/\xff"))
	v.content(store.Node{Ino: inoTail, Mode: store.ModeRegular, Nlink: 1}, make([]byte, 2*store.ChunkSize))
	add(store.Node{Ino: inoNone, Mode: store.ModeRegular, Nlink: 1})
	add(store.Node{Ino: inoLast, Mode: store.ModeChar | 0o600, Nlink: 1, Rdev: 1<<64 - 1})
	v.entry(store.Root, "empty", inoEmpty, store.Dir)
	v.entry(store.Root, "few", inoFew, store.Dir)
	v.entry(store.Root, "last", inoLast, store.Char)
	v.entry(store.Root, "link", inoLink, store.Symlink)
	v.entry(store.Root, "many", inoMany, store.Dir)
	v.entry(store.Root, "none", inoNone, store.File)
	v.entry(store.Root, "tail", inoTail, store.File)
	for _, name := range fewNames {
		v.entry(inoFew, name, inoFile, store.File)
	}
	for i := range manyNames {
		v.entry(inoMany, fmt.Sprintf("name-%06d", i), inoFile, store.File)
	}
	v.Xattrs = []Xattr{
		{inoFew, store.Xattr{Name: "user.a", Value: []byte{}}},
		{inoFew, store.Xattr{Name: "user.b", Value: []byte{0, 255}}},
		{inoLast, store.Xattr{Name: "user.big", Value: bytes.Repeat([]byte("x"), 60000)}},
	}
	return v
}

func (v *Volume) entry(dir store.Ino, name string, ino store.Ino, typ store.Type) {
	v.Entries = append(v.Entries, DirEntry{dir, store.Entry{Name: name, Ino: ino, Type: typ}})
}

// content adds an inode with content, and counts its holes.
func (v *Volume) content(n store.Node, p []byte) {
	n.Size = int64(len(p))
	for chunk := range slices.Chunk(p, store.ChunkSize) {
		if len(chunk) == store.ChunkSize && !slices.ContainsFunc(chunk, func(b byte) bool { return b != 0 }) {
			n.Holes += store.ChunkSize
		}
	}
	v.Nodes = append(v.Nodes, n)
	v.Contents = append(v.Contents, Content{n.Ino, p})
}

// holey returns four chunks and a bit: the third is zeros.
func holey() []byte {
	p := make([]byte, 4*store.ChunkSize+123)
	for i := range p {
		p[i] = byte(i*7 + i>>8)
	}
	clear(p[2*store.ChunkSize : 3*store.ChunkSize])
	return p
}

// node returns an inode of the volume.
func (v *Volume) node(ino store.Ino) store.Node {
	i := slices.IndexFunc(v.Nodes, func(n store.Node) bool { return n.Ino == ino })
	return v.Nodes[i]
}

// list returns the entries of a directory.
func (v *Volume) list(dir store.Ino) (list []store.Entry) {
	for _, e := range v.Entries {
		if e.Dir == dir {
			list = append(list, e.Entry)
		}
	}
	return list
}
