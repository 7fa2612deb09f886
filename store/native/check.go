package native

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/foliofs/folio/sqlitefile"
	"github.com/foliofs/folio/store"
)

// Check checks the database, and then the volume in it:
//
//	K1  The root is a directory; every entry leads to an inode, has a valid name and lies in a directory.
//	K2  An entry's type is that of its inode's mode.
//	K3  Every inode but the root has a name, or is an orphan; a directory has one, and the way up from it ends at the root.
//	K4  nlink counts names; of a directory 2 and one for each directory in it; of an orphan it is 0.
//	K5  A data row belongs to a regular file or a symbolic link, and lies within its size; what the rows hold and
//	    the holes together are the size. A symbolic link has a target and no holes.
//	K6  An extended attribute belongs to an inode and has a name.
//
// It takes about 80 bytes of memory for each inode.
func (s *Store) Check(ctx context.Context) (*store.Report, error) { return s.check(ctx, nil, nil) }

// CheckProgress implements store.Maintainer.
func (s *Store) CheckProgress(ctx context.Context, progress func(done, all int64)) (*store.Report, error) {
	return s.check(ctx, s.inBytes(progress), nil)
}

// inBytes turns a progress in bytes into one in pages.
func (s *Store) inBytes(progress func(done, all int64)) func(done, all uint32) {
	if progress == nil {
		return nil
	}
	size := int64(s.db.Stats().PageSize)
	return func(done, all uint32) { progress(int64(done)*size, int64(all)*size) }
}

// check is Check that also fills in the paths of repairs.
func (s *Store) check(ctx context.Context, progress func(seen, all uint32), repairs []store.Repair) (*store.Report, error) {
	report := new(store.Report)
	err := s.db.View(ctx, func(tx *sqlitefile.Rx) error {
		if err := checkDatabase(ctx, tx, progress, report); err != nil {
			return err
		}
		c := &checker{ctx: ctx, tx: tx, report: report}
		err := c.survey()
		for i := range report.Problems {
			err = cmp.Or(err, c.setPath(&report.Problems[i]))
		}
		for i := range repairs {
			err = cmp.Or(err, c.setPath(&repairs[i].Problem))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return report, nil
}

// checkDatabase checks what is below the volume.
func checkDatabase(ctx context.Context, tx *sqlitefile.Rx, progress func(seen, all uint32), report *store.Report) error {
	r, err := tx.CheckProgress(ctx, progress)
	if err != nil {
		return err
	}
	for _, p := range r.Problems {
		report.Add(store.Problem{What: p.String()})
	}
	return nil
}

// A checker gathers what the tables say of each inode, and compares.
type checker struct {
	ctx    context.Context
	tx     *sqlitefile.Rx
	report *store.Report
	nodes  []checkedNode // by inode
	rows   int           // since ctx was looked at
}

// A checkedNode is what was found of one inode.
type checkedNode struct {
	store.Node
	parent  store.Ino // the directory of its first name
	names   uint32
	orphan  bool
	entries uint32 // in it
	subdirs uint32 // among them
	stored  int64  // bytes in data rows
	end     int64  // of the last data row
	odd     bool   // a data row has more than a chunk
	way     way
}

// A way says where the parents of a directory lead.
type way uint8

const (
	unknown way = iota
	walking
	toRoot
	toNowhere // a loop, or a directory without a name: reported already
)

// survey looks at all tables.
func (c *checker) survey() error {
	steps := []struct {
		table string
		check func(row *sqlitefile.Row) error
	}{
		{"node", c.node}, {"entry", c.entry}, {"data", c.data}, {"xattr", c.xattr}, {"orphan", c.orphan},
	}
	for _, step := range steps {
		if _, err := c.tx.Table(step.table); step.table == "orphan" && errors.Is(err, sqlitefile.ErrNoTable) {
			continue
		}
		if err := c.table(step.table, step.check); err != nil {
			return err
		}
	}
	c.root()
	for i := range c.nodes {
		c.totals(&c.nodes[i])
		c.reach(&c.nodes[i])
	}
	return nil
}

// table calls check for each row. Corruption ends it: Check of the database has more to say of it.
func (c *checker) table(name string, check func(row *sqlitefile.Row) error) error {
	t, err := c.tx.Table(name)
	if err != nil {
		return c.unreadable(name, err)
	}
	for row, err := range t.All() {
		if err == nil {
			err = check(&row)
		}
		if err == nil {
			err = c.alive()
		}
		if err != nil {
			return c.unreadable(name, err)
		}
	}
	return nil
}

// alive returns the error of the context, looking now and then.
func (c *checker) alive() error {
	if c.rows++; c.rows%1024 != 0 {
		return nil
	}
	return c.ctx.Err()
}

// unreadable reports an error that lies in the database, and returns any other.
func (c *checker) unreadable(table string, err error) error {
	if errors.Is(err, sqlitefile.ErrCorrupt) || errors.Is(err, sqlitefile.ErrNoTable) || errors.Is(err, sqlitefile.ErrUnsupported) {
		c.problem(0, "table %s: %v", table, err)
		return nil
	}
	return err
}

func (c *checker) problem(ino store.Ino, format string, args ...any) {
	c.report.Add(store.Problem{Ino: ino, What: fmt.Sprintf(format, args...)})
}

func (c *checker) node(row *sqlitefile.Row) error {
	c.report.Nodes++
	var n store.Node
	err := decodeNode(row, &n)
	switch {
	case errors.Is(err, store.ErrDamaged):
		c.problem(n.Ino, "%v", err)
	case err != nil:
		return err
	case n.Ino < store.Root || n.Ino > store.MaxIno:
		c.problem(n.Ino, "an inode number out of range")
		return nil
	}
	c.nodes = append(c.nodes, checkedNode{Node: n})
	return nil
}

// find returns an inode, nil if there is none. Most numbers are dense.
func (c *checker) find(ino store.Ino) *checkedNode {
	if i := uint64(ino) - 1; i < uint64(len(c.nodes)) && c.nodes[i].Ino == ino {
		return &c.nodes[i]
	}
	i, ok := slices.BinarySearchFunc(c.nodes, ino, func(n checkedNode, ino store.Ino) int {
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

func (c *checker) entry(row *sqlitefile.Row) error {
	c.report.Entries++
	var e rawEntry
	switch err := e.decode(row); {
	case errors.Is(err, store.ErrDamaged):
		c.problem(e.parent, "%v", err)
		return nil
	case err != nil:
		return err
	case !store.ValidName(e.name):
		c.problem(e.parent, "has an entry with an impossible name: %q", e.name)
	}
	dir, n := c.find(e.parent), c.find(e.ino)
	switch {
	case dir == nil:
		c.problem(e.parent, "has entry %q, but there is no such inode", e.name)
	case store.TypeOf(dir.Mode) != store.Dir:
		c.problem(e.parent, "has entry %q, but is not a directory", e.name)
	default:
		dir.entries++
	}
	if n == nil {
		c.problem(e.parent, "entry %q leads to inode %d, which does not exist", e.name, e.ino)
		return nil
	}
	c.count(&e, dir, n)
	return nil
}

// count notes that e leads from dir, which may be nil, to n.
func (c *checker) count(e *rawEntry, dir, n *checkedNode) {
	if typ := store.TypeOf(n.Mode); typ != e.typ {
		c.problem(e.parent, "entry %q says type %d, inode %d is of type %d", e.name, e.typ, e.ino, typ)
	}
	if n.names++; n.names == 1 {
		n.parent = e.parent
	}
	if store.TypeOf(n.Mode) != store.Dir {
		return
	}
	if dir != nil {
		dir.subdirs++
	}
	if n.Ino == store.Root {
		c.problem(e.parent, "entry %q leads to the root", e.name)
	} else if n.names > 1 {
		c.problem(n.Ino, "is a directory with more than one name: %q in inode %d is another", e.name, e.parent)
	}
}

func (c *checker) data(row *sqlitefile.Row) error {
	c.report.Chunks++
	size, err := row.Size(dataBytes)
	if err != nil {
		return err
	}
	c.report.Bytes += size
	ino := store.Ino(row.Rowid() >> store.ChunkBits)
	chunk := row.Rowid() & (1<<store.ChunkBits - 1)
	n := c.find(ino)
	switch {
	case n == nil:
		c.problem(ino, "chunk %d belongs to no inode", chunk)
		return nil
	case size == 0 || size > store.ChunkSize:
		c.problem(ino, "chunk %d has %d bytes", chunk, size)
	case chunk<<store.ChunkShift+size > n.Size:
		c.problem(ino, "chunk %d goes on after the end of the file", chunk)
	}
	if typ := store.TypeOf(n.Mode); typ != store.File && typ != store.Symlink {
		c.problem(ino, "has content, but is of type %d", typ)
	}
	n.stored += size
	n.end = max(n.end, chunk<<store.ChunkShift+size)
	n.odd = n.odd || size > store.ChunkSize
	return nil
}

func (c *checker) xattr(row *sqlitefile.Row) error {
	c.report.Xattrs++
	var ino int64
	var name string
	if err := row.Scan(&ino, &name); err != nil {
		return err
	}
	if c.find(store.Ino(ino)) == nil {
		c.problem(store.Ino(ino), "has extended attribute %q, but there is no such inode", name)
	}
	if name == "" {
		c.problem(store.Ino(ino), "has an extended attribute without a name")
	}
	return nil
}

// orphan notes an orphan. One that does not exist only marks its number as given.
func (c *checker) orphan(row *sqlitefile.Row) error {
	ino := store.Ino(row.Rowid())
	if ino < store.Root || ino > store.MaxIno {
		c.problem(ino, "an inode number out of range in table orphan")
	}
	if n := c.find(ino); n != nil {
		n.orphan = true
	}
	return nil
}

func (c *checker) root() {
	if n := c.find(store.Root); n == nil {
		c.problem(store.Root, "there is no root")
	} else if store.TypeOf(n.Mode) != store.Dir {
		c.problem(store.Root, "the root is not a directory")
	}
}

// links returns what nlink has to be.
func (n *checkedNode) links() uint32 {
	if store.TypeOf(n.Mode) == store.Dir && !n.orphan {
		return 2 + n.subdirs
	}
	return n.names
}

// totals compares what n says of itself with what was counted.
func (c *checker) totals(n *checkedNode) {
	typ := store.TypeOf(n.Mode)
	if links := n.links(); n.Nlink != links {
		c.problem(n.Ino, "nlink is %d, counted %d", n.Nlink, links)
	}
	switch {
	case n.orphan && (n.names > 0 || n.Ino == store.Root || n.entries > 0):
		c.problem(n.Ino, "is an orphan, but has a name or something in it")
	case n.names == 0 && n.Ino != store.Root && !n.orphan:
		c.problem(n.Ino, "no name leads to it")
	}
	switch {
	case typ == store.Symlink && (n.Size == 0 || n.Holes != 0):
		c.problem(n.Ino, "a symbolic link of %d bytes, %d of them holes", n.Size, n.Holes)
	case (typ == store.File || typ == store.Symlink) && n.stored != n.Size-n.Holes:
		c.problem(n.Ino, "size is %d with %d in holes, but %d bytes are stored", n.Size, n.Holes, n.stored)
	}
}

// reach finds out whether the way up from a directory ends at the root, and reports a loop once.
func (c *checker) reach(n *checkedNode) {
	if store.TypeOf(n.Mode) != store.Dir {
		return
	}
	start := n
	for n != nil && n.way == unknown {
		n.way = walking
		if n.Ino == store.Root {
			break
		}
		n = c.find(n.parent)
	}
	end := toNowhere
	switch {
	case n == nil:
	case n.way == walking && n.Ino != store.Root:
		c.problem(n.Ino, "is a directory that lies in itself")
	case n.way == walking || n.way == toRoot:
		end = toRoot
	}
	for n = start; n != nil && n.way == walking; n = c.find(n.parent) {
		n.way = end
	}
}

// setPath fills in the path of a problem.
func (c *checker) setPath(p *store.Problem) error {
	path, err := c.path(p.Ino)
	if err != nil {
		return c.unreadable("entry", err)
	}
	p.Path = path
	return nil
}

// maxReported is how deep a directory may lie for its path to be reported.
const maxReported = 1000

// path returns one path of an inode, "" if no way leads from the root to it.
func (c *checker) path(ino store.Ino) (string, error) {
	if ino == store.Root {
		return ".", nil
	}
	var names []string
	for len(names) < maxReported {
		n := c.find(ino)
		if n == nil {
			return "", nil
		}
		if dir := c.find(n.parent); dir == nil || dir.way != toRoot {
			return "", nil
		}
		name, err := c.nameOf(n)
		if err != nil || name == "" {
			return "", err
		}
		names = append(names, name)
		if ino = n.parent; ino == store.Root {
			slices.Reverse(names)
			return strings.Join(names, "/"), nil
		}
	}
	return "", nil
}

// nameOf returns the first name of n.
func (c *checker) nameOf(n *checkedNode) (string, error) {
	t, err := c.tx.Table("entry")
	if err != nil {
		return "", err
	}
	for e, err := range entries(t, n.parent) {
		if err != nil {
			return "", err
		}
		if e.ino == n.Ino {
			return string(e.name), c.alive()
		}
	}
	return "", nil
}

// entries yields the entries of a directory that can be decoded.
func entries(t sqlitefile.Table, dir store.Ino) iter.Seq2[rawEntry, error] {
	return func(yield func(rawEntry, error) bool) {
		for row, err := range t.Prefix(int64(dir)) {
			var e rawEntry
			if err == nil {
				if err = e.decode(&row); errors.Is(err, store.ErrDamaged) {
					continue
				}
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}
