package serve

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"path"
	"strings"

	"github.com/foliofs/folio"
	internals "github.com/foliofs/folio/internal/private"
)

// A place is the file that the URL of a request names, whether it exists or not.
type place struct {
	tree     *tree   // nil for the list of all volumes
	vol      *opened // of the tree
	name     string  // in the tree, as the URL has it; "." is its root
	dir      bool    // the URL ends in a slash
	snapshot string  // "" for the volume as it is
	root     string  // URL of the tree, with the base
	access   *access // of the user
	share    *share  // by which the place is reached, or nil
	within   string  // the directory of the volume that no path leads out of
	single   string  // the only file in it that a share shows, or ""
	target   string  // the argument of find
}

func (p *place) release() {
	if p.vol != nil {
		p.vol.release()
	}
}

// viewAt is view for a function that reads the place, and its content if that is set. fn may be
// called twice.
func (p *place) viewAt(ctx context.Context, content bool, fn func(rx *folio.Rx) error) error {
	if p.snapshot != "" {
		return p.view(ctx, fn)
	}
	return p.vol.ViewAt(internals.Key{}, ctx, path.Join(p.within, p.name), content, fn)
}

// view calls fn with the tree as it is, or as the snapshot has it.
func (p *place) view(ctx context.Context, fn func(rx *folio.Rx) error) error {
	return p.vol.View(ctx, func(rx *folio.Rx) (err error) {
		if p.snapshot != "" {
			if rx, err = rx.At(p.snapshot); errors.Is(err, folio.ErrNoSnapshot) {
				if denied := p.access.check(p.shown(path.Join(p.within, p.name)), rightRead); denied != nil {
					return denied // who may not look does not learn the names of snapshots
				}
			}
			if err != nil {
				return err
			}
		}
		return fn(rx)
	})
}

var errChanged = errors.New("the file changes all the time")

// open opens a regular file that resolve has found, for longer than a view. Its calls end when ctx
// is done.
func (p *place) open(ctx context.Context, real string, info fs.FileInfo) (*folio.File, func(), error) {
	vol, done := p.vol.Volume, func() {}
	if p.snapshot != "" {
		at, err := vol.OpenSnapshot(ctx, p.snapshot)
		if err != nil {
			return nil, nil, err
		}
		vol, done = at, func() { _ = at.Close() }
	}
	f, err := vol.WithContext(ctx).Open(real)
	if err == nil && !sameFile(f, info) {
		err = errors.Join(errChanged, f.Close())
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return f, func() { _ = f.Close(); done() }, nil
}

// sameFile reports whether a file that was opened by its name is still the one that was found.
func sameFile(f *folio.File, info fs.FileInfo) bool {
	now, err := f.Stat()
	return err == nil && node(now).Ino == node(info).Ino && node(now).Mtime == node(info).Mtime && now.Size() == info.Size()
}

func node(info fs.FileInfo) *folio.Node { return info.Sys().(*folio.Node) }

// href returns the URL of a path in the tree.
func (p *place) href(name string, dir bool) string {
	u := p.root + "/"
	if name != "." {
		u += escapePath(name)
		if dir {
			u += "/"
		}
	}
	return u
}

// escapePath escapes each element of a path.
func escapePath(name string) string {
	elements := strings.Split(name, "/")
	for i, e := range elements {
		elements[i] = url.PathEscape(e)
	}
	return strings.Join(elements, "/")
}

// base is the last element of the place's name.
func (p *place) base() string {
	if p.name == "." {
		return p.rootName()
	}
	return path.Base(p.name)
}

// rootName returns the name of the place's root. A user of a link does not learn the names of the
// volume and of directories above the link's target.
func (p *place) rootName() string {
	switch {
	case p.share == nil:
		return p.tree.Name
	case p.within == p.tree.Dir:
		return "files"
	}
	return path.Base(p.within)
}

// below returns the path in the tree, or in the share, of a path in the volume.
func (p *place) below(real string) string { return relative(p.within, real) }

// within reports whether a path of the volume is a directory, or below it.
func within(dir, p string) bool { return dir == "." || covers(dir, p) }

// shown returns the path by which rights name a path in the volume.
func (p *place) shown(real string) string { return p.tree.shown(real) }
