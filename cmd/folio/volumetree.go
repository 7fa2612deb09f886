package main

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/source"
	"github.com/foliofs/folio/cmd/folio/internal/target"
)

// A volumeTree is a file in a volume, with all that is in it if it is a directory, as a source to copy from. Entries are those of one
// view or transaction; the ID of each is its inode. Large or small, each regular file has a Content, a *folio.File.
type volumeTree struct {
	loc    location
	rx     *folio.Rx
	follow bool // the location may be a symbolic link to what is meant
	links  bool // names of one file are told as links

	ctx   context.Context
	fn    func(*source.Entry) error
	first map[uint64]string // files with several names, by the path they had first
	guard walkGuard
}

var _ source.Source = (*volumeTree)(nil)

func (t *volumeTree) OnDisk() bool { return false }

func (t *volumeTree) Close() error { return nil }

// Size implements source.Source. It is not for a transaction that is busy with something else.
func (t *volumeTree) Size(context.Context) (int64, bool) {
	u := &du{loc: t.loc, rx: t.rx, apparent: true, silent: true}
	total, err := u.total()
	return total.Bytes, err == nil
}

// Walk implements source.Source: directories before what they hold, names in order.
func (t *volumeTree) Walk(ctx context.Context, fn func(*source.Entry) error) error {
	t.ctx, t.fn, t.first, t.guard = ctx, fn, make(map[uint64]string), walkGuard{}
	info, err := t.info()
	if err != nil {
		return &source.EntryError{Name: ".", Err: err}
	}
	return t.visit(".", info)
}

// info describes the file of the tree that is above all others.
func (t *volumeTree) info() (fs.FileInfo, error) {
	if t.follow {
		return t.rx.Stat(t.loc.path)
	}
	return t.rx.Lstat(t.loc.path)
}

// is reports whether an entry and another file of the volume are the same, or would be lost both if the entry, a symbolic link,
// replaced the file.
func (t *volumeTree) is(e *source.Entry, there fs.FileInfo) bool {
	return inodeOf(there) == e.ID.Ino || e.Mode.Type() == fs.ModeSymlink && leadsTo(t.rx, t.at(e.Name), there)
}

func (t *volumeTree) at(name string) string { return path.Join(t.loc.path, name) }

// visit tells about one file, and about what is in it.
func (t *volumeTree) visit(name string, info fs.FileInfo) error {
	if t.ctx.Err() != nil {
		return context.Cause(t.ctx)
	}
	e, err := t.entry(name, info)
	if err != nil {
		return &source.EntryError{Name: name, Err: err}
	}
	if e.Link == "" && info.Mode().IsRegular() {
		f, err := t.rx.Open(t.at(name))
		if err != nil {
			return &source.EntryError{Name: name, Err: err}
		}
		defer f.Close()
		e.Content = f
	}
	if err := t.fn(e); err != nil || !info.IsDir() {
		return err
	}
	return t.directory(name, info)
}

func (t *volumeTree) directory(name string, info fs.FileInfo) error {
	if err := t.guard.enter(info); err != nil {
		return &source.EntryError{Name: name, Err: err}
	}
	list, err := t.rx.ReadDir(t.at(name))
	if err != nil {
		return &source.EntryError{Name: name, Err: err}
	}
	for _, d := range list {
		below := path.Join(name, d.Name())
		if path.Base(below) != d.Name() { // the name is no name
			return &source.EntryError{Name: name + "/" + d.Name(), Err: target.ErrName}
		}
		info, err := d.Info()
		if err == nil && info.Mode().Type() != d.Type() {
			err = fmt.Errorf("%w: its name says that it has another type", folio.ErrDamaged)
		}
		if err != nil {
			return &source.EntryError{Name: below, Err: err}
		}
		if err := t.visit(below, info); err != nil {
			return err
		}
	}
	return nil
}

func (t *volumeTree) entry(name string, info fs.FileInfo) (e *source.Entry, err error) {
	n := info.Sys().(*folio.Node)
	e = &source.Entry{ID: source.FileID{Ino: uint64(n.Ino)}, Size: n.Size, Holes: n.Holes > 0, Shared: n.Nlink > 1 && !info.IsDir()}
	e.Header = folio.Header{
		Name: name, Mode: info.Mode(), UID: n.UID, GID: n.GID, Rdev: n.Rdev,
		ModTime: time.Unix(0, n.Mtime), AccessTime: time.Unix(0, n.Atime), ChangeTime: time.Unix(0, n.Ctime),
	}
	if t.links && e.Shared {
		if first, ok := t.first[uint64(n.Ino)]; ok {
			e.Link = first
			return e, nil
		}
		t.first[uint64(n.Ino)] = name
	}
	switch info.Mode().Type() {
	case fs.ModeSymlink:
		e.Linkname, err = t.rx.Readlink(t.at(name))
	case 0, fs.ModeDir:
		e.Xattrs, err = t.rx.Xattrs(t.at(name))
	}
	return e, err
}
