package exporter

import (
	"errors"
	"io/fs"
	"iter"
	"path"
	"path/filepath"
	"time"
	"unicode/utf8"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/archive"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/listing"
	"github.com/foliofs/folio/cmd/folio/internal/overlay"
	"github.com/foliofs/folio/cmd/folio/internal/source"
)

// Layers say what becomes of a volume that keeps the changes of an overlay.
type Layers struct {
	Base string // the base of the overlay; "" exports the volume as it is
	Flat bool   // an AgentFS database has the whole tree, too
}

// A KeptError says that a volume keeps only the changes of an overlay.
type KeptError struct{ Base string }

func (e *KeptError) Error() string { return "keeps only what an overlay has changed in " + e.Base }

var (
	errBaseVolume = errors.New("is no directory on disk, and AgentFS knows no other base")
	errBaseName   = errors.New("is not UTF-8, and AgentFS cannot name it")
	errPart       = errors.New("is a part of an overlay, and AgentFS knows only whole ones")
)

// view calls fn with a view of the tree to export.
func (e *Export) view(fn func(rx *folio.Rx) error) error {
	if e.Base == "" {
		return e.loc.View(e.ctx, fn)
	}
	return overlay.ViewOf(e.ctx, e.loc, e.Base, func(v *overlay.View) error {
		e.over = v
		return fn(v.Rx)
	})
}

// asChanges reports whether the archive is an overlay of AgentFS.
func (e *Export) asChanges(f archive.Format) bool {
	return f == archive.AgentFS && e.over != nil && !e.Flat
}

// checkLayers refuses early what cannot become an overlay of AgentFS, and says what is missing if
// the base of an overlay is not named: without it, files may have parts of their contents only.
func (e *Export) checkLayers(f archive.Format) error {
	if e.asChanges(f) {
		return e.checkChanges()
	}
	if e.over != nil {
		return nil
	}
	base, err := overlay.Told(e.rx)
	switch {
	case err != nil || base == "":
		return err
	case f == archive.AgentFS:
		return failure.Hint(failure.At(e.loc.Tree(), &KeptError{base}), "--base TREE exports them with their base")
	}
	e.Warn(failure.Rehint(failure.At(e.loc.Tree(), &KeptError{base}), "--base TREE exports what it shows"))
	return nil
}

func (e *Export) checkChanges() error {
	const flat = "--flat exports the whole tree"
	switch b := e.over.Base; {
	case e.loc.Path != ".":
		return failure.Hint(e.loc.Failure(e.loc.Path, errPart), flat)
	case b.Dir == "":
		return failure.Hint(failure.At(b.Name, errBaseVolume), flat)
	case !utf8.ValidString(b.Dir):
		return failure.Hint(failure.At(b.Name, errBaseName), flat)
	}
	return nil
}

// changes returns what chooses the files of an overlay of AgentFS, and what describes it.
func (e *Export) changes() (keep func() func(*listing.Entry) error, o *archive.Overlay) {
	var last *changes
	keep = func() func(*listing.Entry) error {
		last = &changes{View: e.over}
		return last.keep
	}
	removed := func(yield func(string, time.Time) bool) { last.removed(yield) }
	return keep, &archive.Overlay{Base: e.over.Base.Dir, Removed: removed}
}

// A changes goes through an overlay. It chooses the files that a database of AgentFS has to have
// over the same base, and notes which files of the base it has to hide.
//
// AgentFS merges directories by their paths: a directory of the database shows what the directory
// of the base has under the same path, except for names that it has itself, and for names with a
// whiteout. An overlay of Folio merges as overlayfs does, by redirects, and has opaque directories.
// The two agree about a directory whose redirect is its own path. Of any other, all that is in it
// goes into the database, and whatever the base has under its path gets a whiteout.
type changes struct {
	*overlay.View
	dirs []changedDir // from the root to the one that the walk is in
	gone []removal
}

// A changedDir is a directory that is in the database.
type changedDir struct {
	path   string
	merged bool // it shows the directory of the base that has the same path
	based  bool // the base has a directory of the same path
}

type removal struct {
	path string
	at   time.Time
}

// redirect is the extended attribute of a directory in the volume that has the path, after a slash,
// of the directory in the base that it shows.
const redirect = "trusted.overlay.redirect"

// keep returns fs.SkipDir for a file that AgentFS finds in the base as it is.
func (c *changes) keep(e *listing.Entry) error {
	if e.Path == "." {
		return c.enter(e, changedDir{path: ".", merged: true, based: true})
	}
	dir := c.dirOf(e.Path)
	_, err := c.Kept.Lstat(e.Path)
	kept := err == nil
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return source.WrapEntry(e.Path, err)
	case !kept && dir.merged:
		return fs.SkipDir
	case !e.Mode.IsDir():
		return nil
	}
	sub := changedDir{path: e.Path}
	if kept {
		attrs, err := c.Kept.Xattrs(e.Path)
		if err != nil {
			return source.WrapEntry(e.Path, err)
		}
		sub.merged = string(attrs[redirect]) == "/"+e.Path
	}
	if dir.based {
		info, err := fs.Lstat(c.Base.FS, e.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return c.inBase(e.Path, err)
		}
		sub.based = err == nil && info.IsDir()
	}
	return c.enter(e, sub)
}

// dirOf returns the directory that a file lies in.
func (c *changes) dirOf(name string) changedDir {
	for dir := path.Dir(name); c.dirs[len(c.dirs)-1].path != dir; {
		c.dirs = c.dirs[:len(c.dirs)-1]
	}
	return c.dirs[len(c.dirs)-1]
}

// enter notes what the overlay does not show of the directory of the base with the same path.
func (c *changes) enter(e *listing.Entry, dir changedDir) error {
	c.dirs = append(c.dirs, dir)
	if !dir.based {
		return nil
	}
	below, err := fs.ReadDir(c.Base.FS, dir.path)
	if err != nil {
		return c.inBase(dir.path, err)
	}
	list, err := c.Rx.ReadDir(dir.path)
	if err != nil {
		return source.WrapEntry(dir.path, err)
	}
	shown := make(map[string]bool, len(list))
	for _, d := range list {
		shown[d.Name()] = true
	}
	for _, d := range below {
		if !shown[d.Name()] {
			c.gone = append(c.gone, removal{path.Join(dir.path, d.Name()), time.Unix(0, e.Node.Mtime)})
		}
	}
	return nil
}

// inBase names a file of the base in an error.
func (c *changes) inBase(name string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return failure.At(filepath.Join(c.Base.Dir, filepath.FromSlash(name)), err)
}

func (c *changes) removed(yield func(string, time.Time) bool) {
	for _, r := range c.gone {
		if !yield(r.path, r.at) {
			return
		}
	}
}

var _ iter.Seq2[string, time.Time] = new(changes).removed
