package folio

import (
	"cmp"
	"io"
	"io/fs"

	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
)

// Clone makes newname a copy of oldname: a file, or a directory with all that is in it. The copy
// shares the contents of files with the original, until one of the two is written to. So it takes
// little room, and the same time whatever the sizes of the files are. Modes, owners, times of
// modification and access, extended attributes, symbolic links and devices equal the original's.
// Two names of one file in the tree become two names of one new file.
//
// Clone does not follow a symbolic link at the end of oldname. It fails with fs.ErrExist if there
// is a newname, and with fs.ErrInvalid for a directory that is to be cloned to itself, or into
// itself. On a volume whose store cannot share contents it fails with errors.ErrUnsupported.
//
// In a file, the first clone sets user_version of the volume to 2: older versions of Folio refuse
// to open it, until the last clone is removed. A server with PostgreSQL copies the contents by
// itself.
func (v *writer) Clone(oldname, newname string) error {
	begun := false
	err := v.change(func(c *change) error { return c.clone(oldname, newname, &begun) })
	if err != nil && begun && v.tx != nil { // a part of the tree must not be kept
		v.tx.failed = cmp.Or(v.tx.failed, err)
	}
	return linkError("clone", oldname, newname, err)
}

// CloneFile does what CopyFile does, but lets the two files share their content, as Clone does. It
// fails with errors.ErrUnsupported if Clone does.
func (v *writer) CloneFile(oldname, newname string) error {
	f, p, err := v.replacementBy("clonefile", oldname, newname)
	if err != nil {
		return err
	}
	defer f.Close()
	defer p.release()
	return linkError("clonefile", oldname, newname, v.change(p.clone))
}

// clone makes the file one that shares the content of p.from.
func (p *replacement) clone(c *change) error {
	cloner, ok := c.Tx.(store.Cloner)
	g, err := c.find(p.name, followLast)
	switch {
	case err != nil:
		return err
	case g.there() && g.entry.Ino == p.from:
		return fs.ErrInvalid
	case !ok:
		return posix.ErrUnsupported
	}
	from, err := c.Tx.Node(p.from)
	if err == nil {
		err = p.begin(c)
	}
	if err != nil {
		return err
	}
	p.node.Size, p.node.Holes = from.Size, from.Holes
	if err := cloner.CloneContent(&from, p.node.Ino); err != nil {
		return err
	}
	return p.finish(c)
}

// clone makes a copy of a file or a directory. It sets begun when it has checked everything.
func (c *change) clone(oldname, newname string, begun *bool) error {
	cloner, ok := c.Tx.(store.Cloner)
	m, err := c.findMove(oldname, newname)
	if err == nil {
		err = m.cloneable()
	}
	if err == nil && !ok {
		err = posix.ErrUnsupported
	}
	if err == nil {
		err = mustHaveName(c.Tx, m.to.dir)
	}
	if err != nil {
		return err
	}
	*begun = true
	if err := c.cloneTree(cloner, m.from.entry, &m.to); err != nil {
		return err
	}
	dirs := 0
	if m.from.entry.Type == store.Dir {
		dirs = 1
	}
	return c.Touch(m.to.dir, dirs)
}

// cloneTree names a copy of the tree below an entry.
func (c *change) cloneTree(cloner store.Cloner, e store.Entry, to *target) error {
	whole, ok := c.Tx.(store.TreeCloner)
	if !ok {
		k := &cloning{c: c, cloner: cloner, links: make(map[store.Ino]store.Ino), seen: make(map[store.Ino]bool)}
		return k.tree(e, to)
	}
	ino, err := whole.CloneTree(e.Ino, c.Now)
	if err != nil {
		return err
	}
	return c.Tx.Link(to.dir, store.Entry{Name: to.name, Ino: ino, Type: e.Type})
}

// cloneable returns an error if a clone is not possible.
func (m *move) cloneable() error {
	from, to := &m.from, &m.to
	isDir := from.entry.Type == store.Dir
	switch {
	case !from.there():
		return fs.ErrNotExist
	case isDir && (m.inside || to.entry.Ino == from.entry.Ino):
		return fs.ErrInvalid
	case to.there():
		return fs.ErrExist
	case to.slash && !isDir:
		return ErrNotDirectory
	}
	return nil
}

// A cloning copies a tree, directory by directory. The inodes of each directory get numbers that
// follow each other, so that all rows are added at the ends of their tables.
type cloning struct {
	c      *change
	cloner store.Cloner
	queue  []cloneDir
	links  map[store.Ino]store.Ino // the copies of files that have several names
	seen   map[store.Ino]bool      // directories: in a damaged volume one may have two names
}

// A cloneDir is a directory whose entries are to be copied.
type cloneDir struct{ from, to store.Ino }

// tree copies the tree below an entry.
func (k *cloning) tree(e store.Entry, to *target) error {
	if err := k.entry(to.dir, store.Entry{Name: to.name, Ino: e.Ino, Type: e.Type}); err != nil {
		return err
	}
	for len(k.queue) > 0 {
		d := k.queue[0]
		k.queue = k.queue[1:]
		if err := k.directory(d); err != nil {
			return err
		}
	}
	return nil
}

// cloneBatch is how many entries of a directory are read at a time.
const cloneBatch = 4096

// directory copies the entries of a directory.
func (k *cloning) directory(d cloneDir) error {
	var l store.Listing
	for after := ""; ; {
		l.Reset()
		if err := k.c.Tx.List(d.from, after, cloneBatch, &l); err != nil {
			return err
		}
		list := l.Entries()
		for i := range list {
			if err := k.entry(d.to, list[i]); err != nil {
				return err
			}
		}
		if len(list) < cloneBatch {
			return nil
		}
		after = list[len(list)-1].Name
	}
}

// entry copies an entry with its inode, and puts a directory in the queue.
func (k *cloning) entry(dir store.Ino, e store.Entry) error {
	from, err := k.c.Tx.Node(e.Ino)
	switch {
	case err != nil:
		return damagedIfMissing(err, e.Ino)
	case store.TypeOf(from.Mode) != e.Type:
		return store.Damaged("inode %d is of another type than its entry", e.Ino)
	case from.Nlink > 1 && e.Type != store.Dir && k.links[e.Ino] != 0:
		return k.again(dir, e)
	}
	to, err := k.inode(&from)
	if err != nil {
		return err
	}
	switch {
	case e.Type == store.Dir && k.seen[e.Ino]:
		return store.Damaged("inode %d is a directory that has two names", e.Ino)
	case e.Type == store.Dir:
		k.seen[e.Ino] = true
		k.queue = append(k.queue, cloneDir{e.Ino, to})
	case from.Nlink > 1:
		k.links[e.Ino] = to
	}
	e.Ino = to
	return k.c.Tx.Link(dir, e)
}

// damagedIfMissing is the error for an entry whose inode cannot be read.
func damagedIfMissing(err error, ino store.Ino) error {
	if isMissing(err) {
		return store.Damaged("an entry leads to inode %d, which does not exist", ino)
	}
	return err
}

// again gives the copy of a file another name.
func (k *cloning) again(dir store.Ino, e store.Entry) error {
	e.Ino = k.links[e.Ino]
	n, err := k.c.Tx.Node(e.Ino)
	if err != nil {
		return err
	}
	n.Nlink++
	if err := k.c.Tx.Put(&n); err != nil {
		return err
	}
	return k.c.Tx.Link(dir, e)
}

// inode copies an inode, with its content and extended attributes.
func (k *cloning) inode(from *store.Node) (store.Ino, error) {
	to := *from
	to.Ctime = k.c.Now
	isDir := store.TypeOf(from.Mode) == store.Dir
	if !isDir {
		to.Nlink = 1
	}
	if err := k.c.Tx.Insert(&to); err != nil {
		return 0, err
	}
	var err error
	switch {
	case from.IsRegular():
		err = k.cloner.CloneContent(from, to.Ino)
	case store.TypeOf(from.Mode) == store.Symlink:
		err = k.target(from, to)
	}
	if err != nil {
		return 0, err
	}
	return to.Ino, k.c.copyXattrs(from.Ino, to.Ino)
}

// target copies the target of a symbolic link.
func (k *cloning) target(from *store.Node, to store.Node) error {
	if from.Size > store.MaxPath {
		return store.Damaged("inode %d is a symbolic link of %d bytes", from.Ino, from.Size)
	}
	p := make([]byte, from.Size)
	if _, err := k.c.Tx.ReadAt(*from, p, 0); err != nil {
		return err
	}
	to.Size, to.Holes = 0, 0
	return k.c.Tx.WriteAt(&to, p, 0)
}

// maxWriteTo is how much WriteTo reads at once, unless the store reads faster by more.
const maxWriteTo = 256 << 10

// WriteTo writes the rest of the file to w. Other methods need not wait while w does: bytes that
// Read returns meanwhile do not go to w. Bytes that w does not accept remain for Read, unless
// another method moved the offset meanwhile. Of a volume whose long contents are far away, WriteTo
// reads the next bytes while w takes the last ones.
func (f *File) WriteTo(w io.Writer) (written int64, err error) {
	if w == nil {
		return 0, pathError("read", f.name, errNil)
	}
	p, ahead, err := f.writeToBuffers()
	if err != nil {
		return 0, pathError("read", f.name, err)
	}
	c := fileCopy{f: f, w: w}
	if ahead == nil {
		for c.take(f.readPart(p)) && c.write() {
		}
	} else {
		c.readAhead(p, ahead)
	}
	f.giveBack(c.part.end, c.refused)
	return c.written, c.err
}

// writeToBuffers returns a buffer for the rest of the file, or for a part of it. If the next part
// should be read while one is written, it returns a buffer for that, too.
func (f *File) writeToBuffers() (p, ahead []byte, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closedLocked() {
		return nil, nil, fs.ErrClosed
	}
	size, err := f.size()
	if err != nil {
		return nil, nil, err
	}
	rest, most := max(1, size-f.off), int64(maxWriteTo)
	if f.from.pin == nil {
		most = max(most, int64(f.from.fs.partSize()))
	}
	if p = make([]byte, min(most, rest)); most > maxWriteTo && rest > most {
		ahead = make([]byte, min(most, rest-most))
	}
	return p, ahead, nil
}

// A fileCopy is a call of WriteTo.
type fileCopy struct {
	f       *File
	w       io.Writer
	part    filePart // that was read last
	refused int      // bytes of it that w has not accepted
	written int64
	err     error // of the call, once it has ended
}

// A filePart has bytes that were read at the offset of a file.
type filePart struct {
	p   []byte
	end int64 // where the offset was after that
	err error // io.EOF at the end of the file
}

func (f *File) readPart(p []byte) filePart {
	n, end, err := f.readNext(p)
	return filePart{p[:n], end, err}
}

// take takes a part that was read, and reports whether there is something to write.
func (c *fileCopy) take(part filePart) bool {
	c.part = part
	if part.err != nil && part.err != io.EOF {
		c.err = pathError("read", c.f.name, part.err)
		return false
	}
	return len(part.p) > 0
}

// write writes the part, and reports whether the copy goes on.
func (c *fileCopy) write() bool {
	n, err := c.w.Write(c.part.p)
	c.written += int64(n)
	if c.refused = len(c.part.p) - n; c.refused > 0 {
		err = cmp.Or(err, io.ErrShortWrite)
	}
	c.err = err
	return err == nil && c.part.err == nil
}

// readAhead copies, and reads the next part while w takes one. Parts are read one after the other:
// so each is as new as those before it.
func (c *fileCopy) readAhead(p, other []byte) {
	next := make(chan filePart, 1)
	read := func(p []byte) { next <- c.f.readPart(p) }
	go read(p)
	for c.take(<-next) {
		last := c.part.err != nil
		if !last {
			go read(other)
			p, other = other, p
		}
		if !c.write() {
			if !last {
				unused := <-next
				c.f.giveBack(unused.end, len(unused.p))
			}
			return
		}
	}
}
