// Package check looks for contradictions in a volume. A store feeds a Checker the rows of its
// tables, whatever it reads them with:
//
//	K1  The root is a directory; every entry leads to an inode, has a valid name and lies in a
//	    directory.
//	K2  An entry's type equals the type in its inode's mode.
//	K3  Every inode except the root has a name, or is an orphan; a directory has one, and the way up
//	    from it ends at the root.
//	K4  nlink counts names; of a directory it is 2 and one for each directory in it; of an orphan it
//	    is 0.
//	K5  A data row belongs to a regular file or a symbolic link, and lies within its size. The bytes
//	    in data rows and the holes together are the size. A symbolic link has a target and no holes.
//	    Other types have size 0, and only devices have an rdev.
//	K6  An extended attribute belongs to an inode and has a name.
//	K7  Every column holds a number in its range, a text or a BLOB, as docs/reference/format.md has it.
//	K8  A file that shares content lies, as far as it does, within its size, and counts the bytes
//	    its base shows as its own. Only such a file has data rows of no bytes.
//
// A Checker looks either at all inodes at once, or at one window of their numbers after the other.
// All at once take about 140 bytes of memory for each inode. Windows take 24 bytes for each
// directory, and the memory for the inodes of one window. See Window.
package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foliofs/folio/internal/store"
)

// A Checker gathers the facts that the tables state about each inode, and compares them. The caller
// must pass all rows of node first, then the rows of the other tables, and must then call Finish.
// Then problems can be given paths. A Checker must be used by one goroutine at a time.
type Checker struct {
	report *store.Report
	nodes  []Node // the inodes of the window, by number
	window window
	rooted bool                    // there is an inode of that number
	dirs   []directory             // by inode, all that were seen
	named  map[store.Ino]store.Ino // the parent of the inodes that a path is wanted of
}

// New returns a Checker that adds to report, with all inodes in one window.
func New(report *store.Report) *Checker {
	return &Checker{report: report, window: everything, named: make(map[store.Ino]store.Ino)}
}

// A Node collects the facts found about one inode.
type Node struct {
	store.Node
	Names   uint32 // entries that lead to it
	Entries uint32 // in it
	Subdirs uint32 // among them
	Stored  int64  // bytes in data rows
	End     int64  // of the last data row
	Orphan  bool
	Odd     bool  // a data row has more than a chunk
	Chunks  int64 // that it may share with another file
	Mended  bool  // its row has numbers that no inode can have: in their place stand some that one can

	links  int64     // nlink of its row
	parent store.Ino // the directory of its first name
}

// Links returns the correct nlink (K4).
func (n *Node) Links() uint32 {
	if n.IsTree() {
		return 2 + n.Subdirs
	}
	return n.Names
}

// IsTree reports whether an inode is a directory that belongs into the tree.
func (n *Node) IsTree() bool { return store.TypeOf(n.Mode) == store.Dir && !n.Orphan }

// Nodes returns the inodes of the window, by number.
func (c *Checker) Nodes() []Node { return c.nodes }

// Damaged reports a row that could not be understood.
func (c *Checker) Damaged(ino store.Ino, err error) { c.problem(ino, "%v", err) }

func (c *Checker) problem(ino store.Ino, format string, args ...any) {
	c.report.Add(store.Problem{Ino: ino, What: fmt.Sprintf(format, args...)})
}

// Odd reports a column of a row about an inode that holds a value of another kind than it must.
func (c *Checker) Odd(ino store.Ino, table, column, kind string) {
	c.problem(ino, "table %s holds %s in column %s", table, kind, column)
}

// Nobody owns inodes whose row names an owner that cannot exist. Linux uses the same number.
const Nobody = 65534

// Node takes a row of table node, in ascending order. Numbers in it that are not possible, or not
// plausible, are reported; it is an inode all the same. Odd says that a column holds no integer,
// which the caller reports.
func (c *Checker) Node(ino store.Ino, row *store.NodeRow, odd bool) {
	c.report.Nodes++
	node, fit := row.Node(ino)
	n := Node{Node: node, Mended: odd || !fit, links: row.Nlink}
	if !fit {
		c.mend(&n, row)
	}
	if err := n.Plausible(); err != nil {
		c.Damaged(ino, err)
	}
	if !ino.Valid() {
		c.problem(ino, "an inode number out of range")
		return
	}
	c.rooted = c.rooted || ino == store.Root
	c.nodes = append(c.nodes, n)
}

// mend reports the numbers of a row that are out of range (K7), and replaces them.
func (c *Checker) mend(n *Node, row *store.NodeRow) {
	if row.Mode>>store.ModeBits != 0 {
		c.problem(n.Ino, "mode is %#o, which is more than a type and permissions", row.Mode)
		n.Mode &= 1<<store.ModeBits - 1
	}
	if row.Nlink>>32 != 0 {
		n.Nlink = 0 // totals reports it
	}
	if row.UID>>32 != 0 {
		c.problem(n.Ino, "uid is %d, which nobody has", row.UID)
		n.UID = Nobody
	}
	if row.GID>>32 != 0 {
		c.problem(n.Ino, "gid is %d, which nobody has", row.GID)
		n.GID = Nobody
	}
}

// Find returns an inode of the window, nil if there is none. Most numbers are dense.
func (c *Checker) Find(ino store.Ino) *Node {
	if !c.window.has(ino) || len(c.nodes) == 0 {
		return nil
	}
	first := uint64(c.nodes[0].Ino)
	if i := uint64(ino) - first; i < uint64(len(c.nodes)) && c.nodes[i].Ino == ino {
		return &c.nodes[i]
	}
	i, ok := slices.BinarySearchFunc(c.nodes, ino, func(n Node, ino store.Ino) int {
		switch {
		case n.Ino < ino:
			return -1
		case n.Ino > ino:
			return 1
		}
		return 0
	})
	if !ok {
		return nil
	}
	return &c.nodes[i]
}

// Entry takes an entry of a directory.
func (c *Checker) Entry(parent store.Ino, name []byte, ino store.Ino, typ int64) {
	above, below := c.window.has(parent), c.window.has(ino)
	if above {
		c.report.Entries++
	}
	if !above && !below {
		return
	}
	if !ino.Valid() || !store.ValidType(typ) {
		if above {
			c.Damaged(parent, store.Damaged("entry %.1000q of inode %d leads to inode %d of type %d", name, parent, int64(ino), typ))
		}
		return
	}
	e := entry{parent, name, ino, store.Type(typ)}
	dir, n := c.Find(e.parent), c.Find(e.ino)
	if above {
		c.countIn(&e, dir, n, below)
	}
	switch {
	case !below:
	case n == nil:
		c.problem(e.parent, "entry %.1000q leads to inode %d, which does not exist", e.name, e.ino)
	default:
		c.count(&e, n)
	}
}

// countIn notes that e lies in dir, which is nil if it does not exist (K1). n is the inode of e if
// below is set.
func (c *Checker) countIn(e *entry, dir, n *Node, below bool) {
	if !store.ValidName(e.name) {
		c.problem(e.parent, "has an entry with an impossible name: %.1000q", e.name)
	}
	switch {
	case dir == nil:
		c.problem(e.parent, "has entry %.1000q, but there is no such inode", e.name)
		return
	case store.TypeOf(dir.Mode) != store.Dir:
		c.problem(e.parent, "has entry %.1000q, but is not a directory", e.name)
	default:
		dir.Entries++
	}
	if below && n != nil && store.TypeOf(n.Mode) == store.Dir || !below && e.typ == store.Dir {
		dir.Subdirs++
	}
}

type entry struct {
	parent store.Ino
	name   []byte
	ino    store.Ino
	typ    store.Type
}

// count notes that e leads to n, and compares their types (K2).
func (c *Checker) count(e *entry, n *Node) {
	if typ := store.TypeOf(n.Mode); typ != e.typ {
		c.problem(e.parent, "entry %.1000q says type %d, inode %d is of type %d", e.name, e.typ, e.ino, typ)
	}
	if n.Names++; n.Names == 1 {
		n.parent = e.parent
	}
	if store.TypeOf(n.Mode) != store.Dir {
		return
	}
	if n.Ino == store.Root {
		c.problem(e.parent, "entry %.1000q leads to the root", e.name)
	} else if n.Names > 1 {
		c.problem(n.Ino, "is a directory with more than one name: %q in inode %d is another", e.name, e.parent)
	}
}

// Data takes a row of table data with that many bytes.
func (c *Checker) Data(id, size int64) {
	c.report.Chunks++
	c.report.Bytes += size
	ino := store.Ino(id >> store.ChunkBits)
	chunk := id & (1<<store.ChunkBits - 1)
	n := c.Find(ino)
	switch {
	case n == nil:
		c.problem(ino, "chunk %d belongs to no inode", chunk)
		return
	case size == 0 && chunk >= n.Chunks || size > store.ChunkSize:
		c.problem(ino, "chunk %d has %d bytes", chunk, size)
	case chunk<<store.ChunkShift+size > n.Size:
		c.problem(ino, "chunk %d goes on after the end of the file", chunk)
	}
	if typ := store.TypeOf(n.Mode); typ != store.File && typ != store.Symlink {
		c.problem(ino, "has content, but is of type %d", typ)
	}
	n.Stored += size
	n.End = max(n.End, chunk<<store.ChunkShift+size)
	n.Odd = n.Odd || size > store.ChunkSize
}

// Clone takes the number of chunks that a file may share with its base (K8). It must come before
// the data rows.
func (c *Checker) Clone(ino store.Ino, chunks int64) {
	n := c.Find(ino)
	switch {
	case n == nil:
		c.problem(ino, "shares content, but there is no such inode")
		return
	case !n.IsRegular():
		c.problem(ino, "shares content, but is of type %d", store.TypeOf(n.Mode))
	case (chunks-1)<<store.ChunkShift >= n.Size:
		c.problem(ino, "shares %d chunks, which is more than its size of %d", chunks, n.Size)
	}
	n.Chunks = chunks
}

// Shown takes a data row of the base of a clone, under the id that it has for the clone.
func (c *Checker) Shown(id, size int64) {
	n := c.Find(store.Ino(id >> store.ChunkBits))
	if n == nil {
		return
	}
	chunk := id & (1<<store.ChunkBits - 1)
	if chunk<<store.ChunkShift+size > n.Size {
		c.problem(n.Ino, "chunk %d, which it shares, goes on after the end of the file", chunk)
	}
	n.Stored += size
	n.End = max(n.End, chunk<<store.ChunkShift+size)
}

// Xattr takes an extended attribute with a value of that many bytes (K6).
func (c *Checker) Xattr(ino store.Ino, name []byte, size int64) {
	c.report.Xattrs++
	if len(name) > store.MaxXattrName || size > store.MaxXattrValue {
		c.problem(ino, "has an extended attribute %.100q that is too long: its value has %d bytes", name, size)
	}
	if c.Find(ino) == nil {
		c.problem(ino, "has extended attribute %.100q, but there is no such inode", name)
	}
	if len(name) == 0 {
		c.problem(ino, "has an extended attribute without a name")
	}
}

// Orphan takes a row of table orphan. If its inode does not exist, the row only marks the number as
// given.
func (c *Checker) Orphan(ino store.Ino) {
	if !ino.Valid() {
		c.problem(ino, "an inode number out of range in table orphan")
	}
	if n := c.Find(ino); n != nil {
		n.Orphan = true
	}
}

// Finish compares the facts, of the only or the last window.
func (c *Checker) Finish() {
	c.finishWindow()
	if c.dir(store.Root) == nil {
		c.root()
	}
	c.reach()
}

// finishWindow compares the facts about the inodes of a window, and keeps the facts that later
// windows need.
func (c *Checker) finishWindow() {
	for i := range c.nodes {
		n := &c.nodes[i]
		c.totals(n)
		if store.TypeOf(n.Mode) == store.Dir {
			c.dirs = append(c.dirs, directory{ino: n.Ino, parent: n.parent})
		}
	}
	for i := range c.report.Problems {
		c.Name(c.report.Problems[i].Ino)
	}
}

// Name keeps where an inode of the window lies, so that SetPath can tell its path after other
// windows.
func (c *Checker) Name(ino store.Ino) {
	if n := c.Find(ino); n != nil {
		c.named[ino] = n.parent
	}
}

// root reports that there is no root, or that it is no directory.
func (c *Checker) root() {
	if c.rooted {
		c.problem(store.Root, "the root is not a directory")
	} else {
		c.problem(store.Root, "there is no root")
	}
}

// totals compares the row of n with the counts (K3, K4, K5).
func (c *Checker) totals(n *Node) {
	typ := store.TypeOf(n.Mode)
	if links := n.Links(); n.links != int64(links) {
		c.problem(n.Ino, "nlink is %d, counted %d", n.links, links)
	}
	switch {
	case n.Orphan && (n.Names > 0 || n.Ino == store.Root || n.Entries > 0):
		c.problem(n.Ino, "is an orphan, but has a name or something in it")
	case n.Names == 0 && n.Ino != store.Root && !n.Orphan:
		c.problem(n.Ino, "no name leads to it")
	}
	switch {
	case typ == store.Symlink && (n.Size == 0 || n.Size > store.MaxPath || n.Holes != 0):
		c.problem(n.Ino, "a symbolic link of %d bytes, %d of them holes", n.Size, n.Holes)
	case (typ == store.File || typ == store.Symlink) && n.Stored != n.Size-n.Holes:
		c.problem(n.Ino, "size is %d with %d in holes, but %d bytes are stored", n.Size, n.Holes, n.Stored)
	case typ != store.File && typ != store.Symlink && typ != 0 && (n.Size != 0 || n.Holes != 0):
		c.problem(n.Ino, "size is %d with %d in holes, but it is of type %d", n.Size, n.Holes, typ)
	}
	if n.Rdev != 0 && typ != 0 && !n.IsDevice() {
		c.problem(n.Ino, "rdev is %d, but it is no device", int64(n.Rdev))
	}
}

// A NameOf returns the first name in a directory that leads to an inode.
type NameOf func(dir, ino store.Ino) (string, error)

// SetPath fills in the path of a problem.
func (c *Checker) SetPath(p *store.Problem, nameOf NameOf) (err error) {
	p.Path, err = c.path(p.Ino, nameOf)
	return err
}

// maxReported is how deep a directory may lie for its path to be reported.
const maxReported = 1000

// path returns one path of an inode, "" if no way leads from the root to it.
func (c *Checker) path(ino store.Ino, nameOf NameOf) (string, error) {
	if ino == store.Root {
		return ".", nil
	}
	var names []string
	for len(names) < maxReported {
		parent, ok := c.parent(ino)
		if !ok || !c.Reachable(parent) {
			return "", nil
		}
		name, err := nameOf(parent, ino)
		if err != nil || name == "" {
			return "", err
		}
		names = append(names, name)
		if ino = parent; ino == store.Root {
			slices.Reverse(names)
			return strings.Join(names, "/"), nil
		}
	}
	return "", nil
}

// parent returns the directory of the first name of an inode, if that is known.
func (c *Checker) parent(ino store.Ino) (parent store.Ino, ok bool) {
	if d := c.dir(ino); d != nil {
		return d.parent, true
	}
	if parent, ok = c.named[ino]; ok {
		return parent, true
	}
	if n := c.Find(ino); n != nil {
		return n.parent, true
	}
	return 0, false
}
