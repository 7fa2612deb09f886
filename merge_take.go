package folio

import (
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
)

// take puts a file into d, in the place of the existing one, if there is one.
func (m *merger) take(d *mergeDir, name string, info fs.FileInfo, there store.Entry) error {
	n, err := m.takeNode(d, name, info)
	if err != nil {
		return err
	}
	typ := store.TypeOf(n.Mode)
	if there.Ino != 0 {
		m.stats.Replaced++
		old, err := m.c.Tx.Node(there.Ino)
		if err == nil {
			err = m.c.Drop(&old)
		}
		if unlessMissing(err) != nil {
			return err
		}
	}
	if err := m.c.Tx.Link(d.node.Ino, store.Entry{Name: path.Base(name), Ino: n.Ino, Type: typ}); err != nil {
		return err
	}
	d.added++
	m.count(typ, n.Size)
	if typ == store.Dir {
		d.dirs++
		if err := m.mergeDir(&mergeDir{name: name, info: info, node: n, made: true}); err != nil {
			return err
		}
	}
	m.report(name)
	return nil
}

func (m *merger) count(typ store.Type, size int64) {
	switch typ {
	case store.File:
		m.stats.Files++
		m.stats.Bytes += size
	case store.Dir:
		m.stats.Dirs++
	case store.Symlink:
		m.stats.Symlinks++
	default:
		m.stats.Others++
	}
}

// takeNode makes the inode of the new file, with its content.
func (m *merger) takeNode(d *mergeDir, name string, info fs.FileInfo) (n store.Node, err error) {
	switch info.Mode().Type() {
	case 0:
		return m.takeFile(d, name)
	case fs.ModeSymlink:
		return m.takeLink(d, name, info)
	}
	if n, err = m.newNode(d, info); err == nil {
		err = m.c.Tx.Insert(&n)
	}
	return n, err
}

// newNode returns an inode with the attributes in info.
func (m *merger) newNode(d *mergeDir, info fs.FileInfo) (n store.Node, err error) {
	mode, ok := posixMode(info.Mode())
	if !ok {
		return n, fmt.Errorf("%w: a file of type %v", posix.ErrUnsupported, info.Mode().Type())
	}
	n = store.Node{Mode: mode, Nlink: 1, UID: m.c.fs.uid, GID: m.c.fs.gid, Ctime: m.c.Now}
	n.Mtime = posix.Nanoseconds(info.ModTime(), m.c.Now)
	n.Atime = n.Mtime
	if info.IsDir() {
		n.Nlink = 2
	}
	if d.node.Mode&modeSetgid != 0 {
		n.GID = d.node.GID
	}
	if from, ok := info.Sys().(*Node); ok {
		n.UID, n.GID, n.Atime = from.UID, from.GID, from.Atime
		if n.IsDevice() {
			n.Rdev = from.Rdev
		}
	}
	return n, nil
}

// takeLink makes a symbolic link.
func (m *merger) takeLink(d *mergeDir, name string, info fs.FileInfo) (n store.Node, err error) {
	target, err := fs.ReadLink(m.src, name)
	if err != nil {
		return n, pathError("readlink", name, err)
	}
	if !validText(target) || len(target) > store.MaxPath {
		return n, fmt.Errorf("%w: target of a symbolic link: %.100q", posix.ErrInvalid, target)
	}
	if n, err = m.newNode(d, info); err == nil {
		err = m.insert(&n, []byte(target))
	}
	return n, err
}

// insert adds an inode with a content.
func (m *merger) insert(n *store.Node, content []byte) error {
	n.Size = int64(len(content))
	if err := m.c.Tx.Insert(n); err != nil {
		return err
	}
	n.Size = 0
	return m.c.Tx.WriteAt(n, content, 0)
}

// takeFile makes a regular file as it is when it is opened.
func (m *merger) takeFile(d *mergeDir, name string) (n store.Node, err error) {
	f, err := m.src.Open(name)
	if err != nil {
		return n, pathError("open", name, err)
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = pathError("close", name, closed)
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return n, pathError("stat", name, err)
	}
	if !info.Mode().IsRegular() {
		return n, pathError("open", name, ErrNotRegular)
	}
	if n, err = m.newNode(d, info); err != nil {
		return n, err
	}
	return n, m.takeContent(&n, name, f, info.Size())
}

// takeContent adds an inode with the content of f, which may be longer or shorter than announced.
func (m *merger) takeContent(n *store.Node, name string, f fs.File, announced int64) error {
	if m.buf == nil {
		m.buf = make([]byte, readFromBuffer)
	}
	size, p := int64(0), m.buf
	if announced >= 0 && announced < int64(len(p)) {
		p = p[:announced+1] // and one more, to see the end
	}
	for inserted := false; ; inserted, p = true, m.buf {
		skipped, err := store.SkipHole(f, size)
		if err != nil {
			return pathError("read", name, err)
		}
		size += skipped
		k, err := fillFrom(f, p)
		if err != nil && err != io.EOF {
			return pathError("read", name, err)
		}
		switch {
		case !inserted && err == io.EOF && size == 0 && k < store.ChunkSize:
			return m.insert(n, p[:k])
		case !inserted:
			if err := m.c.Tx.Insert(n); err != nil {
				return err
			}
		}
		if err := m.c.writeSparse(n, p[:k], size); err != nil {
			return err
		}
		if size += int64(k); err == io.EOF {
			break
		}
		if err := m.ctx.Err(); err != nil {
			return err
		}
	}
	if n.Size < size {
		if err := m.c.Tx.Truncate(n, size); err != nil {
			return err
		}
	}
	return m.c.Tx.Put(n)
}
