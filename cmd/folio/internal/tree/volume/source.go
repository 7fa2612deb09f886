// Package volume reads trees in volumes, and writes them.
//
// A Source is a tree in a volume. Export copies it to a directory on disk. An Addition adds entries
// to a directory of a volume.
package volume

import (
	"context"
	"errors"
	"io/fs"
	"path"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/listing"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/internal/inoset"
)

// A Source is a file in a volume and, if it is a directory, all that is in it, as a source to
// copy from. Entries come from one view or transaction. The ID of each is its inode. Each
// regular file has a Content, which is a *folio.File.
type Source struct {
	Loc    location.Location
	Rx     *folio.Rx
	Follow bool   // the location may be a symbolic link to the tree
	Links  bool   // further names of a file are links
	As     string // how errors name the tree, if the volume is a temporary one; "" for its location

	ctx   context.Context
	fn    func(*tree.Entry) error
	first map[uint64]string // files with several names, by the path they had first
}

var _ tree.Source = (*Source)(nil)

// Fail implements tree.Source.
func (t *Source) Fail(err error) error {
	e, ok := errors.AsType[*tree.EntryError](err)
	switch {
	case ok && t.As != "":
		return failure.InTree(t.As, err)
	case ok:
		return t.Loc.EntryFailure(e)
	}
	return t.Loc.Failure(t.Loc.Path, err)
}

func (t *Source) Close() error { return nil }

// Size implements tree.Source. A transaction must not be busy with anything else meanwhile.
func (t *Source) Size(context.Context) (bytes int64, ok bool) {
	var seen inoset.Set // files with several names
	err := listing.Walk(t.Loc, t.Rx, func(e *listing.Entry) error {
		if !e.Mode.IsDir() && (e.Node.Nlink == 1 || seen.Add(e.Node.Ino)) {
			bytes += e.Node.Size
		}
		return nil
	})
	return bytes, err == nil
}

// Walk implements tree.Source.
func (t *Source) Walk(ctx context.Context, fn func(*tree.Entry) error) error {
	t.ctx, t.fn, t.first = ctx, fn, make(map[uint64]string)
	info, err := t.Info()
	if err != nil {
		return tree.WrapEntry(".", err)
	}
	top, err := listing.OfInfo(t.Rx, t.Loc.Path, info)
	if err != nil {
		return tree.WrapEntry(".", err)
	}
	top.Path = "."
	return (&listing.Walker{Rx: t.Rx, Base: t.Loc.Path, Fail: tree.WrapEntry, Strict: true}).Walk(&top, t.visit)
}

// Info describes the root of the tree.
func (t *Source) Info() (fs.FileInfo, error) {
	if t.Follow {
		return t.Rx.Stat(t.Loc.Path)
	}
	return t.Rx.Lstat(t.Loc.Path)
}

// Is reports whether an entry and another file of the volume are the same, or would be lost both if
// the entry, a symbolic link, replaced the file.
func (t *Source) Is(e *tree.Entry, there fs.FileInfo) bool {
	return location.Inode(there) == e.ID.Ino || e.Mode.Type() == fs.ModeSymlink && location.LeadsTo(t.Rx, t.At(e.Name), there)
}

// At is the path in the volume of an entry.
func (t *Source) At(name string) string { return path.Join(t.Loc.Path, name) }

// visit passes one file to the function of Walk.
func (t *Source) visit(v *listing.Entry) error {
	if t.ctx.Err() != nil {
		return context.Cause(t.ctx)
	}
	e, err := t.entry(v)
	if err != nil {
		return tree.WrapEntry(v.Path, err)
	}
	if e.Link == "" && v.Mode.IsRegular() {
		f, err := t.Rx.Open(t.At(v.Path))
		if err != nil {
			return tree.WrapEntry(v.Path, err)
		}
		defer f.Close()
		e.Content = f
	}
	return t.fn(e)
}

// entry describes a file. With Links set, the second name of a file is a link to the first.
func (t *Source) entry(v *listing.Entry) (*tree.Entry, error) {
	e := v.Tree()
	if t.Links && e.Shared {
		if first, ok := t.first[e.ID.Ino]; ok {
			e.Link = first
			return &e, nil
		}
		t.first[e.ID.Ino] = v.Path
	}
	var err error
	if v.Mode.IsRegular() || v.Mode.IsDir() {
		e.Xattrs, err = t.Rx.Xattrs(t.At(v.Path))
	}
	return &e, err
}
