// Package build keeps the names and inodes of a volume that is being made, until all are known and
// can be written.
package build

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"io/fs"
	"math"
	"slices"
	"strings"

	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native"
)

// A Tree holds the names and inodes of a volume that is being made, until all are known and
// can be written in order. Millions of files pass through it. So it counts bytes: it has no
// pointers, keeps names in an arena, and stores attributes that inodes share only once.
//
// Invariants:
//
//	T1  nodes[i] is inode i+1. Inode 1 is the root.
//	T2  index finds the number of every entry, counted from 1, by its directory and name.
//	T3  A number in implied is a directory that Add was not called for.
type Tree struct {
	nodes   []packedNode
	entries []packedEntry
	index   []uint32 // hash table with open addressing; 0 is a free slot
	names   arena
	attrs   []Attr
	attrOf  map[Attr]uint32
	holes   map[store.Ino]int64
	implied map[store.Ino]bool
	xattrs  []xattr
	shared  map[string]string // names and short values of extended attributes
	seed    maphash.Seed
	Dirs    int64 // how many there are, without the root

	way    way         // to the directory that dir found last; its names are valid
	linked way         // to that of the last file that existing found
	found  []store.Ino // for dir and existing
}

// A Node is an inode before it gets its number.
type Node struct {
	Attr                Attr
	Mtime, Ctime, Atime int64 // nanoseconds since 1970
}

// An Attr holds the attributes that many inodes share.
type Attr struct {
	Mode, UID, GID uint32
	Rdev           uint64
}

type packedNode struct {
	attr                      uint32 // in attrs
	nlink                     uint32 // names, or of a directory the directories in it
	size, mtime, ctime, atime int64
}

type packedEntry struct {
	parent, ino uint32
	name        nameRef
}

type xattr struct {
	ino         store.Ino
	name, value string
}

const (
	maxShared = 256           // bytes of an extended attribute that is worth sharing
	maxBuild  = math.MaxInt32 // files
)

var errTooManyFiles = errors.New("too many files for one import")

func (t *Tree) Init(root Node) {
	t.seed = maphash.MakeSeed()
	t.attrOf = make(map[Attr]uint32)
	t.holes = make(map[store.Ino]int64)
	t.implied = map[store.Ino]bool{store.Root: true}
	t.shared = make(map[string]string)
	t.index = make([]uint32, 1<<10)
	t.newNode(root)
}

// Add adds a file and returns its inode. Missing directories become inodes like implied. After an
// error nothing has changed.
func (t *Tree) Add(name string, n, implied Node) (store.Ino, error) {
	if err := t.checkPath(name); err != nil {
		return 0, err
	}
	dir, base, err := t.parent(name, implied)
	if err != nil {
		return 0, err
	}
	ino := store.Root
	if name != "." {
		if ino = t.lookup(dir, base); ino == 0 {
			return t.insert(dir, base, n)
		}
	}
	if !t.implied[ino] {
		return 0, fs.ErrExist
	}
	if store.TypeOf(n.Attr.Mode) != store.Dir {
		return 0, posix.ErrIsDirectory
	}
	delete(t.implied, ino)
	p := &t.nodes[ino-1]
	p.attr, p.mtime, p.ctime, p.atime = t.share(n.Attr), n.Mtime, n.Ctime, n.Atime
	return ino, nil
}

// parent returns the directory that a checked path lies in, which it makes if there is none, and
// its last element.
func (t *Tree) parent(path string, implied Node) (dir store.Ino, base string, err error) {
	parent, base := posix.SplitPath(path)
	dir, err = t.dir(parent, implied)
	return dir, base, err
}

// checkPath returns an error if a file cannot have the path.
func (t *Tree) checkPath(path string) error {
	switch {
	case path == ".":
		return nil
	case len(path) > store.MaxPath:
		return posix.ErrNameTooLong
	}
	_, end := t.way.known(path)
	if end > 0 && end == len(path) {
		return nil
	}
	for elem := range strings.SplitSeq(path[afterSlash(end):], "/") {
		switch {
		case store.ValidName(elem):
		case len(elem) > store.MaxName:
			return posix.ErrNameTooLong
		default:
			return fs.ErrInvalid
		}
	}
	return nil
}

// dir returns the directory at path and makes the missing directories on the way (T3).
func (t *Tree) dir(path string, implied Node) (store.Ino, error) {
	if path == "." {
		return store.Root, nil
	}
	ino, end := t.way.known(path)
	if end == len(path) {
		return ino, nil
	}
	t.found = t.found[:0]
	for elem := range strings.SplitSeq(path[afterSlash(end):], "/") {
		next := t.lookup(ino, elem)
		if next == 0 {
			var err error
			if next, err = t.insert(ino, elem, implied); err != nil {
				return 0, err
			}
			t.implied[next] = true
		}
		if t.typeOf(next) != store.Dir {
			return 0, posix.ErrNotDirectory
		}
		ino = next
		t.found = append(t.found, ino)
	}
	t.way.set(path, end, t.found)
	return ino, nil
}

func (t *Tree) typeOf(ino store.Ino) store.Type {
	return store.TypeOf(t.attrs[t.nodes[ino-1].attr].Mode)
}

// insert adds an inode under a name that is not there yet (T1).
func (t *Tree) insert(dir store.Ino, name string, n Node) (store.Ino, error) {
	if len(t.nodes) >= maxBuild || len(t.entries) >= maxBuild {
		return 0, errTooManyFiles
	}
	ino := t.newNode(n)
	if store.TypeOf(n.Attr.Mode) == store.Dir {
		t.nodes[dir-1].nlink++
		t.Dirs++
	} else {
		t.nodes[ino-1].nlink = 1
	}
	t.newEntry(dir, name, ino)
	return ino, nil
}

func (t *Tree) newNode(n Node) store.Ino {
	t.nodes = append(t.nodes, packedNode{attr: t.share(n.Attr), mtime: n.Mtime, ctime: n.Ctime, atime: n.Atime})
	return store.Ino(len(t.nodes))
}

func (t *Tree) share(a Attr) uint32 {
	i, ok := t.attrOf[a]
	if !ok {
		i = uint32(len(t.attrs))
		t.attrs = append(t.attrs, a)
		t.attrOf[a] = i
	}
	return i
}

func (t *Tree) newEntry(dir store.Ino, name string, ino store.Ino) {
	if 4*len(t.entries) >= 3*len(t.index) {
		t.rehash()
	}
	t.entries = append(t.entries, packedEntry{parent: uint32(dir), ino: uint32(ino), name: t.names.add(name)})
	slot, _ := t.find(dir, name)
	t.index[slot] = uint32(len(t.entries))
}

// Link gives the file at oldname a further name. After an error nothing has changed.
func (t *Tree) Link(oldname, newname string, implied Node) error {
	ino, err := t.existing(oldname)
	if err == nil {
		err = t.checkPath(newname)
	}
	switch {
	case err != nil:
		return err
	case t.typeOf(ino) == store.Dir:
		return posix.ErrIsDirectory
	case len(t.entries) >= maxBuild || t.nodes[ino-1].nlink == math.MaxUint32:
		return errTooManyFiles
	}
	dir, base, err := t.parent(newname, implied)
	switch {
	case err != nil:
		return err
	case newname == "." || t.lookup(dir, base) != 0:
		return fs.ErrExist
	}
	t.newEntry(dir, base, ino)
	t.nodes[ino-1].nlink++
	return nil
}

// existing returns the inode of a file that was added.
func (t *Tree) existing(path string) (store.Ino, error) {
	if path == "." {
		return store.Root, nil
	}
	dir, base := posix.SplitPath(path)
	if dir := t.existingDir(dir); dir != 0 {
		if ino := t.lookup(dir, base); ino != 0 {
			return ino, nil
		}
	}
	return 0, fs.ErrNotExist
}

// existingDir returns the inode at the path of a directory, 0 if there is none. It may be a file,
// in which lookup finds nothing.
func (t *Tree) existingDir(path string) store.Ino {
	if path == "." {
		return store.Root
	}
	ino, end := t.linked.known(path)
	if end == len(path) {
		return ino
	}
	t.found = t.found[:0]
	for elem := range strings.SplitSeq(path[afterSlash(end):], "/") {
		if ino = t.lookup(ino, elem); ino == 0 {
			return 0
		}
		t.found = append(t.found, ino)
	}
	t.linked.set(path, end, t.found)
	return ino
}

func (t *Tree) SetSize(ino store.Ino, size, holes int64) {
	t.nodes[ino-1].size = size
	if holes > 0 {
		t.holes[ino] = holes
	}
}

// AddXattrs copies the extended attributes of an inode.
func (t *Tree) AddXattrs(ino store.Ino, attrs map[string][]byte) {
	for name, value := range attrs {
		t.xattrs = append(t.xattrs, xattr{ino: ino, name: t.intern(name), value: t.intern(string(value))})
	}
}

func (t *Tree) intern(s string) string {
	if len(s) > maxShared {
		return s
	}
	if known, ok := t.shared[s]; ok {
		return known
	}
	s = strings.Clone(s)
	t.shared[s] = s
	return s
}

// lookup returns the inode of an entry, 0 if there is none.
func (t *Tree) lookup(dir store.Ino, name string) store.Ino {
	slot, found := t.find(dir, name)
	if !found {
		return 0
	}
	return store.Ino(t.entries[t.index[slot]-1].ino)
}

// find returns the slot of an entry in index (T2), or the free slot for it.
func (t *Tree) find(dir store.Ino, name string) (slot int, found bool) {
	mask := len(t.index) - 1
	for slot = t.home(uint32(dir), maphash.String(t.seed, name)); t.index[slot] != 0; slot = (slot + 1) & mask {
		e := &t.entries[t.index[slot]-1]
		if e.parent == uint32(dir) && string(t.names.get(e.name)) == name {
			return slot, true
		}
	}
	return slot, false
}

// home returns the slot where the search for an entry begins, by the hash of its name.
func (t *Tree) home(dir uint32, name uint64) int {
	h := name ^ uint64(dir)*0x9e3779b97f4a7c15
	return int((h ^ h>>29) & uint64(len(t.index)-1))
}

// rehash doubles the index.
func (t *Tree) rehash() {
	t.index = make([]uint32, 2*len(t.index))
	mask := len(t.index) - 1
	for i := range t.entries {
		e := &t.entries[i]
		slot := t.home(e.parent, maphash.Bytes(t.seed, t.names.get(e.name)))
		for t.index[slot] != 0 {
			slot = (slot + 1) & mask
		}
		t.index[slot] = uint32(i + 1)
	}
}

// Write writes everything in the order of its keys.
func (t *Tree) Write(ctx context.Context, out *native.Builder) error {
	if err := t.writeXattrs(out); err != nil {
		return err
	}
	for i := range t.nodes {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		n := t.node(i)
		if err := out.Node(&n); err != nil {
			return err
		}
	}
	return t.writeEntries(ctx, out)
}

func (t *Tree) writeXattrs(out *native.Builder) error {
	slices.SortFunc(t.xattrs, func(a, b xattr) int {
		return cmp.Or(cmp.Compare(a.ino, b.ino), strings.Compare(a.name, b.name))
	})
	for _, x := range t.xattrs {
		if err := out.Xattr(x.ino, store.Xattr{Name: x.name, Value: []byte(x.value)}); err != nil {
			return err
		}
	}
	return nil
}

// node unpacks nodes[i].
func (t *Tree) node(i int) store.Node {
	p := &t.nodes[i]
	a := &t.attrs[p.attr]
	n := store.Node{
		Ino: store.Ino(i + 1), Mode: a.Mode, Nlink: p.nlink, UID: a.UID, GID: a.GID, Rdev: a.Rdev,
		Size: p.size, Mtime: p.mtime, Ctime: p.ctime, Atime: p.atime,
	}
	n.Holes = t.holes[n.Ino]
	if store.TypeOf(a.Mode) == store.Dir {
		n.Nlink += 2
	}
	return n
}

func (t *Tree) writeEntries(ctx context.Context, out *native.Builder) error {
	t.index = nil
	sorted := t.sortedEntries()
	for i := range sorted {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		e := &sorted[i]
		ino := store.Ino(e.ino)
		entry := store.Entry{Name: string(t.names.get(e.name)), Ino: ino, Type: t.typeOf(ino)}
		if err := out.Entry(store.Ino(e.parent), entry); err != nil {
			return err
		}
	}
	return nil
}

// sortedEntries returns the entries by directory and name: dealt out to their directories first, as
// most of these are in order then.
func (t *Tree) sortedEntries() []packedEntry {
	end := make([]uint32, len(t.nodes)+1) // where the next entry of each directory goes
	for i := range t.entries {
		end[t.entries[i].parent]++
	}
	total := uint32(0)
	for i, n := range end {
		end[i] = total
		total += n
	}
	sorted := make([]packedEntry, len(t.entries))
	for _, e := range t.entries {
		sorted[end[e.parent]] = e
		end[e.parent]++
	}
	byName := func(a, b packedEntry) int {
		return bytes.Compare(t.names.get(a.name), t.names.get(b.name))
	}
	start := uint32(0)
	for _, e := range end {
		if of := sorted[start:e]; !slices.IsSortedFunc(of, byName) {
			slices.SortFunc(of, byName)
		}
		start = e
	}
	return sorted
}
