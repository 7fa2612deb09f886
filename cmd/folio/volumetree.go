package main

import (
	"context"
	"io/fs"
	"path"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/source"
	"github.com/foliofs/folio/internal/inoset"
)

// A volumeTree is a file in a volume and, if it is a directory, all that is in it, as a source to
// copy from. Entries are those of one view or transaction. The ID of each is its inode. Each
// regular file has a Content, which is a *folio.File.
type volumeTree struct {
	loc    location
	rx     *folio.Rx
	follow bool // the location may be a symbolic link to the tree
	links  bool // further names of a file are links

	ctx   context.Context
	fn    func(*source.Entry) error
	first map[uint64]string // files with several names, by the path they had first
}

var _ source.Source = (*volumeTree)(nil)

func (t *volumeTree) OnDisk() bool { return false }

func (t *volumeTree) Close() error { return nil }

// Size implements source.Source. A transaction must not be busy with anything else meanwhile.
func (t *volumeTree) Size(context.Context) (bytes int64, ok bool) {
	var seen inoset.Set // files with several names
	err := walkAll(t.loc, t.rx, func(e *entry) error {
		if !e.mode.IsDir() && (e.node.Nlink == 1 || seen.Add(e.node.Ino)) {
			bytes += e.node.Size
		}
		return nil
	})
	return bytes, err == nil
}

// Walk implements source.Source.
func (t *volumeTree) Walk(ctx context.Context, fn func(*source.Entry) error) error {
	t.ctx, t.fn, t.first = ctx, fn, make(map[uint64]string)
	info, err := t.info()
	if err != nil {
		return source.WrapEntry(".", err)
	}
	top, err := entryOfInfo(t.rx, t.loc.path, info)
	if err != nil {
		return source.WrapEntry(".", err)
	}
	top.path = "."
	return (&walker{rx: t.rx, base: t.loc.path, fail: source.WrapEntry, strict: true}).walk(&top, t.visit)
}

// info describes the root of the tree.
func (t *volumeTree) info() (fs.FileInfo, error) {
	if t.follow {
		return t.rx.Stat(t.loc.path)
	}
	return t.rx.Lstat(t.loc.path)
}

// is reports whether an entry and another file of the volume are the same, or would be lost both if
// the entry, a symbolic link, replaced the file.
func (t *volumeTree) is(e *source.Entry, there fs.FileInfo) bool {
	return inodeOf(there) == e.ID.Ino || e.Mode.Type() == fs.ModeSymlink && leadsTo(t.rx, t.at(e.Name), there)
}

func (t *volumeTree) at(name string) string { return path.Join(t.loc.path, name) }

// visit passes one file on.
func (t *volumeTree) visit(v *entry) error {
	if t.ctx.Err() != nil {
		return context.Cause(t.ctx)
	}
	e, err := t.entry(v)
	if err != nil {
		return source.WrapEntry(v.path, err)
	}
	if e.Link == "" && v.mode.IsRegular() {
		f, err := t.rx.Open(t.at(v.path))
		if err != nil {
			return source.WrapEntry(v.path, err)
		}
		defer f.Close()
		e.Content = f
	}
	return t.fn(e)
}

func (t *volumeTree) entry(v *entry) (e *source.Entry, err error) {
	n := &v.node
	e = &source.Entry{ID: source.FileID{Ino: n.Ino}, Size: n.Size, Holes: n.Holes > 0, Shared: n.Nlink > 1 && !v.mode.IsDir()}
	e.Header = folio.Header{
		Name: v.path, Mode: v.mode, UID: n.UID, GID: n.GID, Rdev: n.Rdev, Linkname: v.target,
		ModTime: time.Unix(0, n.Mtime), AccessTime: time.Unix(0, n.Atime), ChangeTime: time.Unix(0, n.Ctime),
	}
	if t.links && e.Shared {
		if first, ok := t.first[n.Ino]; ok {
			e.Link = first
			return e, nil
		}
		t.first[n.Ino] = v.path
	}
	if v.mode.IsRegular() || v.mode.IsDir() {
		e.Xattrs, err = t.rx.Xattrs(t.at(v.path))
	}
	return e, err
}
