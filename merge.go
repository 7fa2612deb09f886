package folio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/foliofs/folio/internal/inoset"
	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
)

// A MergePolicy says how Merge treats a file whose name is taken.
type MergePolicy uint8

// The policies.
const (
	MergeFail    MergePolicy = iota // nothing is merged: Merge fails with fs.ErrExist. This is the default
	MergeKeep                       // keep the existing file, and pass over the new one
	MergeReplace                    // replace the existing file; an existing directory gets mode and time of the new one
	MergeNewer                      // replace it if it was modified before the new one
	MergeChanged                    // replace it if its type, its size or its time of modification differs from that of the new one
)

// String returns the policy as a word, for example "keep".
func (p MergePolicy) String() string {
	words := []string{"fail", "keep", "replace", "newer", "changed"}
	if int(p) >= len(words) {
		return fmt.Sprintf("MergePolicy(%d)", uint8(p))
	}
	return words[p]
}

// MergeOptions say how Merge works. The zero value, and nil, are good defaults.
type MergeOptions struct {
	Policy MergePolicy // MergeFail unless set
	// Progress, if it is not nil, is called after each file, in the order of the walk, with its
	// name in the source and with the counts so far.
	Progress func(name string, done MergeStats)
}

// MergeStats counts the files of a Merge.
type MergeStats struct {
	Files    int64 // regular files that came
	Dirs     int64 // directories that came
	Symlinks int64
	Others   int64
	Bytes    int64 // of contents
	Replaced int64 // files that took the place of another
	Kept     int64 // files that were passed over
}

// Merge copies the tree of src into the directory dir: contents, modes, modification times and, if
// src is an fs.ReadLinkFS, symbolic links. It makes dir, and the directories that lead to it, if
// they are missing. Hard links and owners are beyond io/fs, but if src is a volume its owners are
// kept. Chunks of zeros become holes.
//
// An existing directory is merged with the one of the same name in src. For any other name that is
// taken, o.Policy decides. A file that replaces another is a new inode: the old one stays for
// processes that have it open, and under its other names. Merge follows no symbolic link below dir.
// A directory never replaces a file, or a file a directory: MergeKeep passes over the entry of src
// with everything in it, the other policies fail with ErrNotDirectory or ErrIsDirectory.
//
// All of it happens in one transaction, however large src is. Nothing happens if src cannot be
// read, if there is no room, or if ctx is cancelled. Readers see the old tree meanwhile, and
// writers wait. Merge takes memory for one directory of src on each level. After an error in a Tx,
// the transaction can only be rolled back.
//
// Errors are those of src, or *fs.PathError with the name in the volume.
func (v *writer) Merge(ctx context.Context, src fs.FS, dir string, o *MergeOptions) error {
	if o == nil {
		o = new(MergeOptions)
	}
	err := v.usable()
	if err == nil && (ctx == nil || src == nil) {
		err = errNil
	}
	if err != nil {
		return pathError("merge", dir, err)
	}
	m := &merger{ctx: ctx, vol: v.from.fs, src: src, dir: dir, policy: o.Policy, progress: o.Progress}
	var own error
	err = v.changeAll(ctx, func(c *change) error {
		own = m.run(c)
		return own
	})
	if own != nil || isDone(err) {
		return err
	}
	return pathError("merge", dir, err)
}

// changeAll is change for many changes: in a Tx it must not be kept if fn fails.
func (v *writer) changeAll(ctx context.Context, fn func(c *change) error) error {
	if v.tx != nil {
		err := v.change(fn)
		v.tx.failed = cmp.Or(v.tx.failed, err)
		return err
	}
	vol := v.from.fs
	if err := vol.updates.wait(ctx); err != nil {
		return err
	}
	return vol.store.Update(ctx, func(tx store.Tx) error {
		defer vol.updates.begin()()
		return fn(vol.changeIn(tx, v.from.top))
	})
}

// A merger is a Merge.
type merger struct {
	ctx      context.Context
	vol      *Volume
	src      fs.FS
	dir      string
	policy   MergePolicy
	progress func(name string, done MergeStats) // or nil

	c      *change
	target store.Ino  // the inode of dir
	stats  MergeStats // so far
	seen   inoset.Set // directories of a src that is a volume: a damaged one may hold a directory more than once, and in itself
	buf    []byte     // for contents
}

// A mergeDir is a directory that is merged.
type mergeDir struct {
	name string // in src
	node store.Node
	info fs.FileInfo // of the new file
	made bool        // it was not there before

	added int // names
	dirs  int // directories among them
}

func (m *merger) run(c *change) error {
	m.c = c
	info, err := fs.Stat(m.src, ".")
	err = unexpectedEnd("stat", ".", err)
	if err == nil && !info.IsDir() {
		err = pathError("merge", ".", ErrNotDirectory)
	}
	if err != nil {
		return err
	}
	d := &mergeDir{name: ".", info: info}
	if err := m.enter(d); err != nil {
		return m.failed(".", err)
	}
	return m.mergeDir(d)
}

// enter finds the directory that all goes into, or makes it.
func (m *merger) enter(d *mergeDir) error {
	n, g, err := m.c.existing(m.dir, followLast|anySlash)
	if isMissing(err) && m.dir != "" {
		if err = m.c.mkdirAll(m.dir, 0o755); err == nil {
			n, g, err = m.c.existing(m.dir, followLast|anySlash)
		}
		d.made = true
	}
	switch {
	case err != nil:
	case g.entry.Type != store.Dir:
		err = ErrNotDirectory
	case n.Nlink == 0: // it was removed while it is open as a Root
		err = fs.ErrNotExist
	}
	d.node, m.target = n, n.Ino
	return err
}

// failed names the file that could not be written, unless err names the file that could not be
// read.
func (m *merger) failed(name string, err error) error {
	if err != nil && errors.Is(err, m.ctx.Err()) {
		return err
	}
	return pathError("merge", path.Join(m.dir, name), err)
}

func (m *merger) mergeDir(d *mergeDir) error {
	if err := m.once(d); err != nil {
		return m.failed(d.name, err)
	}
	list, err := fs.ReadDir(m.src, d.name)
	if err != nil {
		return pathError("readdir", d.name, err)
	}
	for _, e := range list {
		if err := m.ctx.Err(); err != nil {
			return err
		}
		name := path.Join(d.name, e.Name())
		if err := m.mergeEntry(d, name, e); err != nil {
			return m.failed(name, err)
		}
	}
	return m.failed(d.name, m.leave(d))
}

// once refuses a directory that comes a second time, and a directory that is copied into itself.
func (m *merger) once(d *mergeDir) error {
	volume, ok := m.src.(ioFS)
	n, known := d.info.Sys().(*Node)
	if !ok || !known {
		return nil
	}
	if volume.fs == m.vol && n.Ino == uint64(m.target) && d.name != "." {
		return fmt.Errorf("%w: a directory is not merged into itself", posix.ErrInvalid)
	}
	return enterOnce(&m.seen, n)
}

// leave updates a directory after its entries were merged.
func (m *merger) leave(d *mergeDir) error {
	if d.added == 0 && !d.made && m.policy != MergeReplace {
		return nil
	}
	n, err := m.c.Tx.Node(d.node.Ino)
	if err != nil {
		return err
	}
	n.Nlink += uint32(d.dirs)
	n.Mtime, n.Ctime = m.c.Now, m.c.Now
	if d.made || m.policy == MergeReplace {
		mode, _ := posixMode(d.info.Mode())
		n.Mode, n.Mtime = mode, posix.Nanoseconds(d.info.ModTime(), m.c.Now)
	}
	return m.c.Tx.Put(&n)
}

// mergeEntry merges the entry of a name in d.
func (m *merger) mergeEntry(d *mergeDir, name string, e fs.DirEntry) error {
	if len(e.Name()) > store.MaxName {
		return ErrNameTooLong
	}
	if !store.ValidName(e.Name()) {
		return fmt.Errorf("%w: %q is no name", posix.ErrInvalid, e.Name())
	}
	there, err := m.c.Tx.Lookup(d.node.Ino, e.Name())
	if err != nil && !isMissing(err) {
		return err
	}
	info, err := e.Info()
	if err != nil {
		return pathError("lstat", name, err)
	}
	if there.Ino != 0 {
		if info.IsDir() && there.Type == store.Dir {
			return m.mergeInto(name, info, there)
		}
		goes, err := m.goes(there, info)
		if err != nil {
			return err
		}
		if !goes {
			m.stats.Kept++
			m.report(name)
			return nil
		}
	}
	return m.take(d, name, info, there)
}

// mergeInto merges a directory with an existing one.
func (m *merger) mergeInto(name string, info fs.FileInfo, there store.Entry) error {
	n, err := m.c.Tx.Node(there.Ino)
	if err == nil {
		err = m.mergeDir(&mergeDir{name: name, info: info, node: n})
	}
	if err == nil {
		m.report(name)
	}
	return err
}

// goes reports whether the existing file makes way for the new one.
func (m *merger) goes(there store.Entry, info fs.FileInfo) (bool, error) {
	switch {
	case m.policy == MergeFail:
		return false, fs.ErrExist
	case m.policy == MergeKeep:
		return false, nil
	case there.Type == store.Dir:
		return false, ErrIsDirectory
	case info.IsDir():
		return false, ErrNotDirectory
	case m.policy == MergeReplace:
		return true, nil
	}
	n, err := m.c.Tx.Node(there.Ino)
	if err != nil {
		return isMissing(err), posix.IgnoreMissing(err)
	}
	mtime := posix.Nanoseconds(info.ModTime(), m.c.Now)
	if m.policy == MergeNewer {
		return n.Mtime < mtime, nil
	}
	mode, _ := posixMode(info.Mode())
	same := n.Mtime == mtime && store.TypeOf(mode) == store.TypeOf(n.Mode) && (!n.IsRegular() || n.Size == info.Size())
	return !same, nil
}

// report calls the Progress function.
func (m *merger) report(name string) {
	if m.progress != nil {
		m.progress(name, m.stats)
	}
}

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
		if posix.IgnoreMissing(err) != nil {
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
	n = store.Node{Mode: mode, Nlink: 1, UID: m.c.uid, GID: m.c.gid, Ctime: m.c.Now}
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
