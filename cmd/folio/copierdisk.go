package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/source"
	"github.com/foliofs/folio/cmd/folio/internal/target"
)

// out copies files of volumes to disk.
func (c *copier) out() error {
	if c.dest.stream {
		return c.eachSource(func(p *place, rx *folio.Rx) error { return cat(c.stdout, p.location, rx) })
	}
	if err := mayName(c.dest.disk, "folio cp copies within a volume and between volumes"); err != nil {
		return err
	}
	info, err := os.Stat(c.dest.disk)
	c.into = err == nil && info.IsDir() && !c.exact
	if err == nil && !info.IsDir() {
		err = c.mayReplace()
	}
	switch {
	case c.into:
	case len(c.sources) > 1:
		if err == nil {
			err = folio.ErrNotDirectory
		}
		return hint(failure(c.dest.disk, err), severalFiles)
	case err != nil && (c.dest.inside || !errors.Is(err, fs.ErrNotExist)):
		return err
	}
	return c.eachSource(c.extract)
}

// mayReplace returns an error if a copy must not replace the file that is there.
func (c *copier) mayReplace() error {
	switch {
	case c.dest.slash:
		return failure(c.dest.disk, folio.ErrNotDirectory)
	case isVolume(c.dest.disk):
		return hint(failure(c.dest.disk, errIsVolume), c.dest.disk+": is its root")
	}
	return nil
}

func (c *copier) eachSource(fn func(p *place, rx *folio.Rx) error) error {
	for i := range c.sources {
		p := &c.sources[i]
		if p.onDisk() {
			return p.failure(errBothOnDisk)
		}
		if err := p.view(c.ctx, func(rx *folio.Rx) error { return fn(p, rx) }); err != nil {
			return err
		}
	}
	return nil
}

var errBothOnDisk = errors.New("is on disk, and so is where it is to go")

// extract copies one source.
func (c *copier) extract(p *place, rx *folio.Rx) error {
	src, err := c.volumeTree(p, rx)
	if err != nil {
		return err
	}
	info, err := src.info()
	if err != nil {
		return p.failure(err)
	}
	if !c.into {
		if done, err := c.replaces(p, rx, info.Mode().Type()); done || err != nil {
			return err
		}
	}
	dir, top, err := c.destination(p, info.Mode().Type())
	if err != nil {
		return err
	}
	return c.write(src, dir, top)
}

// replaces looks at the file on disk that gets the name of a copy of that type. done reports
// whether nothing is left to do: the file stays as it is, or it is special and got the content.
func (c *copier) replaces(p *place, rx *folio.Rx, typ fs.FileMode) (done bool, err error) {
	name := c.dest.disk
	there, err := os.Lstat(name)
	if err == nil && typ.IsRegular() && there.Mode().Type() == fs.ModeSymlink {
		if there, err = os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			return false, failure(name, errDangling)
		}
	}
	switch {
	case err == nil && c.noClobber && !typ.IsDir():
		return true, nil
	case c.dest.slash && !typ.IsDir(), err == nil && typ.IsDir() && !there.IsDir():
		return false, failure(name, folio.ErrNotDirectory)
	case err == nil && there.IsDir() && !typ.IsDir():
		return false, failure(name, folio.ErrIsDirectory)
	case !typ.IsDir() && isSpecial(name):
		return true, c.through(p, rx)
	}
	return false, nil
}

// destination returns the directory on disk that a copy of that type goes to, and its name there:
// "." for the files in p.
func (c *copier) destination(p *place, typ fs.FileMode) (dir, top string, err error) {
	name := c.dest.disk
	if c.into {
		top = p.base()
		if top != "." && c.taken[top] {
			err = failure(filepath.Join(name, top), errJustCreated)
		}
		c.taken[top] = true
		if err == nil && top != "." {
			err = mayName(filepath.Join(name, top), "name a file to copy it to")
		}
		return name, top, err
	}
	if info, err := os.Stat(name); err == nil {
		if info.IsDir() && typ.IsDir() {
			return name, ".", nil
		}
		if resolved, err := filepath.EvalSymlinks(name); err == nil && typ.IsRegular() {
			name = resolved
		}
	}
	name = filepath.Clean(name)
	return filepath.Dir(name), filepath.Base(name), nil
}

func (c *copier) write(src *volumeTree, dir, top string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	o := &target.Options{Replace: !c.noClobber, Skip: c.noClobber, Strict: true, Owner: c.preserve && os.Geteuid() == 0}
	x := &copyOut{dir: dir, top: top, attr: c.attr, root: c.preserve}
	if c.onlyNewer || c.verbose {
		x.before = c.before(src)
	}
	if c.archive && c.into {
		x.names = c.names
	}
	_, err = writeOut(c.ctx, c.streams, src, root, o, x, c.progress)
	return c.tell(err)
}

// before returns a function for copyOut.before: --update may pass over an entry, and --verbose
// names it.
func (c *copier) before(src *volumeTree) func(e *source.Entry, to string) (pass bool) {
	return func(e *source.Entry, to string) bool {
		there, err := os.Lstat(to)
		if err == nil && there.IsDir() && e.Mode.IsDir() {
			return false
		}
		if err == nil && (c.noClobber || c.onlyNewer && !e.Mode.IsDir() && !there.ModTime().Before(e.ModTime)) {
			return !c.noClobber // which the tree sees to
		}
		if c.verbose {
			c.say(copiedLine, copyTitle(src.loc.String(), e.Name), to)
		}
		return false
	}
}

// attr returns the attributes of a copy: all of them, or those that a new file gets.
func (c *copier) attr(e *source.Entry) *target.Attr {
	a := wholeAttr(e)
	if !c.archive {
		a.Xattrs = nil
	}
	if c.preserve {
		return a
	}
	a.Keep = true
	a.Mode = e.Mode.Type() | e.Mode.Perm()&^umask
	if e.Mode.IsDir() {
		a.Mode |= e.Mode & fs.ModeSticky
	}
	a.Mtime, a.Atime = zeroTime, zeroTime
	return a
}

// through writes a file to a device or a named pipe.
func (c *copier) through(p *place, rx *folio.Rx) error {
	f, err := rx.Open(p.path)
	if err != nil {
		return p.failure(err)
	}
	defer f.Close()
	w, err := os.OpenFile(c.dest.disk, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	out := &output{w: w}
	_, err = io.Copy(out, f)
	if closed := w.Close(); out.err == nil {
		out.err = closed
	}
	if out.err != nil {
		return failure(c.dest.disk, out.err)
	}
	return p.failure(err)
}

// isSpecial reports whether a name is that of a file that is written through: a device, or a named
// pipe.
func isSpecial(name string) bool {
	info, err := os.Stat(name)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}
