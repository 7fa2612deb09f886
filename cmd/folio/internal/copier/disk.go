package copier

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/disk"
	"github.com/foliofs/folio/cmd/folio/internal/tree/volume"
	"github.com/foliofs/folio/cmd/folio/internal/value"
)

// out copies files of volumes to disk.
func (c *Copy) out() error {
	if c.Dest.Stream {
		return c.eachSource(func(p *Place, rx *folio.Rx) error { return Cat(c.Stdout, p.Location, rx) })
	}
	if err := location.MayName(c.Dest.Disk, "folio cp copies within a volume and between volumes"); err != nil {
		return err
	}
	info, err := os.Stat(c.Dest.Disk)
	c.into = err == nil && info.IsDir() && !c.Exact
	if err == nil && !info.IsDir() {
		err = c.mayReplace()
	}
	switch {
	case c.into:
	case len(c.Sources) > 1:
		if err == nil {
			err = folio.ErrNotDirectory
		}
		return failure.Hint(failure.At(c.Dest.Disk, err), failure.SeveralFiles)
	case err != nil && (c.Dest.Inside || !errors.Is(err, fs.ErrNotExist)):
		return err
	}
	return c.eachSource(c.extract)
}

// mayReplace returns an error if a copy must not replace the file that is there.
func (c *Copy) mayReplace() error {
	switch {
	case c.Dest.Slash:
		return failure.At(c.Dest.Disk, folio.ErrNotDirectory)
	case location.IsVolume(c.Dest.Disk):
		return failure.Hint(failure.At(c.Dest.Disk, failure.ErrIsVolume), c.Dest.Disk+": is its root")
	}
	return nil
}

// eachSource calls fn for each source, in a view of its volume.
func (c *Copy) eachSource(fn func(p *Place, rx *folio.Rx) error) error {
	for i := range c.Sources {
		p := &c.Sources[i]
		if p.OnDisk() {
			return p.Failure(errBothOnDisk)
		}
		if err := p.View(c.ctx, func(rx *folio.Rx) error { return fn(p, rx) }); err != nil {
			return err
		}
	}
	return nil
}

var errBothOnDisk = errors.New("is on disk, and so is where it is to go")

// extract copies one source to disk.
func (c *Copy) extract(p *Place, rx *folio.Rx) error {
	src, err := c.volumeTree(p, rx)
	if err != nil {
		return err
	}
	info, err := src.Info()
	if err != nil {
		return p.Failure(err)
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
func (c *Copy) replaces(p *Place, rx *folio.Rx, typ fs.FileMode) (done bool, err error) {
	name := c.Dest.Disk
	there, err := os.Lstat(name)
	if err == nil && typ.IsRegular() && there.Mode().Type() == fs.ModeSymlink {
		if there, err = os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			return false, failure.At(name, failure.ErrDangling)
		}
	}
	switch {
	case err == nil && c.NoClobber && !typ.IsDir():
		return true, nil
	case c.Dest.Slash && !typ.IsDir(), err == nil && typ.IsDir() && !there.IsDir():
		return false, failure.At(name, folio.ErrNotDirectory)
	case err == nil && there.IsDir() && !typ.IsDir():
		return false, failure.At(name, folio.ErrIsDirectory)
	case !typ.IsDir() && isSpecial(name):
		return true, c.through(p, rx)
	}
	return false, nil
}

// destination returns the directory on disk that a copy of that type goes to, and its name there:
// "." for the files in p.
func (c *Copy) destination(p *Place, typ fs.FileMode) (dir, top string, err error) {
	name := c.Dest.Disk
	if c.into {
		top = p.base()
		stays := c.NoClobber && !typ.IsDir()
		if top != "." && c.taken[top] && !stays {
			err = failure.At(filepath.Join(name, top), failure.ErrJustCreated)
		}
		c.taken[top] = true
		if err == nil && top != "." {
			err = location.MayName(filepath.Join(name, top), "name a file to copy it to")
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

// write copies a tree to the name top in a directory on disk. It never writes outside of that
// directory, even if another process replaces a directory below it by a link meanwhile.
func (c *Copy) write(src *volume.Source, dir, top string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	o := &disk.WriteOptions{
		Top: top, SetTop: c.Preserve, Prepare: c.prepare, Keep: !c.Preserve,
		Replace: !c.NoClobber, Skip: c.NoClobber, Strict: true, Owner: c.Preserve && os.Geteuid() == 0,
	}
	if c.OnlyNewer || c.Verbose {
		o.Before = c.before(src)
	}
	if c.Archive && c.into {
		o.Names = c.names
	}
	x := &volume.Export{Streams: c.Streams, Ctx: c.ctx, Progress: c.progress}
	_, err = x.Run(src, root, dir, o)
	c.Left += x.Refused
	return c.Tell(err)
}

// before returns a function for disk.WriteOptions: --update may pass over an entry, and
// --verbose names it.
func (c *Copy) before(src *volume.Source) func(e *tree.Entry, to string) (pass bool, err error) {
	return func(e *tree.Entry, to string) (bool, error) {
		there, err := os.Lstat(to)
		if err == nil && there.IsDir() && e.Mode.IsDir() {
			return false, nil
		}
		if err == nil && (c.NoClobber || c.OnlyNewer && !e.Mode.IsDir() && !there.ModTime().Before(e.ModTime)) {
			return !c.NoClobber, nil // which the tree sees to
		}
		if c.Verbose {
			c.Say(copiedLine, copyTitle(src.Loc.String(), e.Name), to)
		}
		return false, nil
	}
}

// prepare gives an entry the attributes of its copy: all of its own, or a new file's.
func (c *Copy) prepare(e *tree.Entry) {
	if !c.Archive {
		e.Xattrs = nil
	}
	if c.Preserve {
		return
	}
	sticky := e.Mode & fs.ModeSticky
	if !e.Mode.IsDir() {
		sticky = 0
	}
	e.Mode = e.Mode.Type() | e.Mode.Perm()&^value.Umask | sticky
	e.ModTime, e.AccessTime = zeroTime, zeroTime
}

// through writes a file to a device or a named pipe.
func (c *Copy) through(p *Place, rx *folio.Rx) error {
	f, err := rx.Open(p.Path)
	if err != nil {
		return p.Failure(err)
	}
	defer f.Close()
	w, err := os.OpenFile(c.Dest.Disk, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	out := &tree.Output{W: w}
	_, err = io.Copy(out, f)
	if closed := w.Close(); out.Err == nil {
		out.Err = closed
	}
	if out.Err != nil {
		return failure.At(c.Dest.Disk, out.Err)
	}
	return p.Failure(err)
}

// isSpecial reports whether a name belongs to a file that is written through: a device, or a named
// pipe.
func isSpecial(name string) bool {
	info, err := os.Stat(name)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// Cat writes the content of a file to standard output.
func Cat(stdout io.Writer, loc location.Location, rx *folio.Rx) error {
	f, err := rx.Open(loc.Path)
	if err != nil {
		return loc.Failure(loc.Path, err)
	}
	defer f.Close()
	out := &tree.Output{W: stdout}
	if _, err = f.WriteTo(out); out.Err != nil {
		return failure.OfOutput(out.Err)
	}
	return loc.Failure(loc.Path, err)
}
