// Package copier is cp, put and get: it copies files and trees into a volume, out of one, and
// between volumes, as cp of the system copies on disk.
package copier

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/terminal"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/disk"
	"github.com/foliofs/folio/cmd/folio/internal/tree/volume"
)

// Options are the flags of cp, put and get.
type Options struct {
	Recursive, Preserve, Archive bool
	NoClobber, Exact             bool
	Create, Quiet                bool
	OnlyNewer, Verbose           bool
	Reflink                      Reflink
}

// Reflink says when copies within a volume share their content with the original.
type Reflink string

// The values of Reflink.
const (
	ReflinkNever  Reflink = "never"
	ReflinkAuto   Reflink = "auto"   // if that is possible
	ReflinkAlways Reflink = "always" // it is an error if that is not possible
)

// errNotShared is the error of a copy that must share its content and cannot.
var errNotShared = errors.New("--reflink=always shares content within one volume only")

// A Place is a file of a copy, on disk or in a volume.
type Place struct {
	location.Operand        // in a volume
	Disk             string // the path of a file on disk; "" for one in a volume
	Stream           bool   // standard input or output
}

// A Copy is one run of cp, put or get.
type Copy struct {
	*terminal.Streams
	Options
	ctx      context.Context
	Sources  []Place
	Dest     Place
	Left     int64         // attributes that a disk did not take, when Run has returned
	trees    []tree.Source // of the sources on disk, opened before anything is written; nil for other sources
	progress *terminal.Progress
	into     bool            // dest is a directory
	taken    map[string]bool // names in dest that a source got
	names    tree.FirstNames // of copies on disk
}

// OnDisk is a file on disk.
func OnDisk(arg string) Place {
	p := Place{Disk: arg}
	last := arg
	for last != "" && os.IsPathSeparator(last[len(last)-1]) {
		last = last[:len(last)-1]
	}
	p.Slash = last != arg
	name := filepath.Base(last)
	p.Inside = last == "" || name == "." || name == ".."
	return p
}

// InVolume is a file in a volume.
func InVolume(arg string) Place { return Place{Operand: location.ParseOperand(arg)} }

// Anywhere is a file in a volume if a colon follows the volume's name, and one on disk without.
func Anywhere(arg string) Place {
	if location.OnServer(arg) {
		return InVolume(arg)
	}
	if location.Exists(arg) || !strings.Contains(arg[len(filepath.VolumeName(arg)):], ":") {
		return OnDisk(arg)
	}
	return InVolume(arg)
}

// OnDisk reports whether the place is on disk, or a stream.
func (p *Place) OnDisk() bool { return p.Disk != "" || p.Stream }

// base is the name of a copy in another directory. It is "." if the files in p are copied.
func (p *Place) base() string {
	if p.Disk == "" || p.Inside {
		return p.Operand.Base()
	}
	return filepath.Base(p.Disk)
}

func (p *Place) title() string {
	switch {
	case p.Stream:
		return failure.StandardInput
	case p.Disk != "":
		return p.Disk
	}
	return p.Operand.String()
}

// Failure names the place in an error.
func (p *Place) Failure(err error) error {
	if p.OnDisk() {
		return failure.At(p.title(), err)
	}
	return p.Operand.Fail(err)
}

var errNeedsName = errors.New("has no name of its own")

const copiesAll = "-r copies it with all that is in it"

var zeroTime time.Time

// Run copies sources to dest.
func (c *Copy) Run(ctx context.Context) (err error) {
	c.ctx = ctx
	if c.Archive {
		c.Recursive, c.Preserve = true, true
	}
	c.taken, c.names = make(map[string]bool), make(tree.FirstNames)
	c.progress = c.NewProgress("copying", c.Quiet)
	defer c.progress.Done()
	defer c.close()
	if c.Dest.OnDisk() {
		return c.out()
	}
	if err := c.Dest.CheckWritable(); err != nil {
		return err
	}
	if err := c.open(); err != nil {
		return err
	}
	return c.Dest.Update(ctx, c.Streams, &c.Create, c.in)
}

// open opens the sources on disk. It finds errors of them before a volume is changed.
func (c *Copy) open() error {
	skip, err := location.SkipVolume(c.Dest.Volume, false)
	if err != nil {
		return failure.At(c.Dest.Volume, failure.ErrNoVolume)
	}
	c.trees = make([]tree.Source, len(c.Sources))
	for i := range c.Sources {
		p := &c.Sources[i]
		if !p.OnDisk() {
			continue
		}
		if c.trees[i], err = c.openDisk(p, &tree.Options{Skip: skip, Copies: !c.Archive, Warn: c.warn(p)}); err != nil {
			return p.Failure(err)
		}
	}
	return nil
}

func (c *Copy) warn(p *Place) func(name, what string) {
	return func(name, what string) { c.WarnLeftOut(filepath.Join(p.Disk, name), what) }
}

// openDisk opens a source on disk. Without -r it follows symbolic links on the command line, and
// reads a device or a named pipe to its end.
func (c *Copy) openDisk(p *Place, o *tree.Options) (tree.Source, error) {
	if p.Stream {
		return c.spoolInput(p)
	}
	if p.Disk == "" {
		return nil, fs.ErrNotExist
	}
	info, err := os.Stat(p.Disk)
	switch {
	case c.Recursive && (err == nil || !p.Slash):
		return openFile(p, p.Disk, o)
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, failure.Hint(p.Failure(folio.ErrIsDirectory), copiesAll)
	case !info.Mode().IsRegular():
		return c.spool(p, func() (io.ReadCloser, error) { return os.Open(p.Disk) })
	}
	resolved, err := filepath.EvalSymlinks(p.Disk)
	if err != nil {
		return nil, err
	}
	return openFile(p, resolved, o)
}

func openFile(p *Place, name string, o *tree.Options) (tree.Source, error) {
	t, err := disk.OpenFile(name, o)
	if err != nil {
		return nil, err
	}
	t.Title = p.Disk
	return t, nil
}

func (c *Copy) close() {
	for _, tree := range c.trees {
		if tree != nil {
			_ = tree.Close()
		}
	}
}

// in copies into a volume, in one transaction.
func (c *Copy) in(tx *folio.Tx) (err error) {
	if c.into, err = location.Into(&tx.Rx, &c.Dest.Operand, c.Exact, len(c.Sources)); err != nil {
		return err
	}
	in := &copyIn{Streams: c.Streams, ctx: c.ctx, tx: tx, loc: c.Dest.Location, how: &c.Options}
	if len(c.Sources) > 1 {
		in.written = make(map[writtenFile]bool)
	}
	if c.Archive {
		in.names = make(tree.FirstNames)
	}
	for i := range c.Sources {
		if err := c.copyIn(in, i); err != nil {
			return err
		}
	}
	return nil
}

// copyIn copies one source into the volume.
func (c *Copy) copyIn(in *copyIn, i int) error {
	p := &c.Sources[i]
	base := p.base()
	if p.Stream && c.into {
		return failure.Hint(p.Failure(errNeedsName), "write VOLUME:PATH/NAME")
	}
	in.top, in.mustDir = c.Dest.Path, c.Dest.Slash && !c.into
	in.inside = in.mustDir || c.into && base == "."
	if c.into {
		in.top = path.Join(c.Dest.Path, base)
	}
	in.title, in.from = p.title(), p.Tree()
	in.within, in.topIno, in.dirs = nil, 0, nil
	within := !p.OnDisk() && p.Snapshot == "" && location.SameFile(p.Volume, c.Dest.Volume)
	if c.Reflink == ReflinkAlways && !within {
		return p.Failure(errNotShared)
	}
	if p.OnDisk() {
		return c.copyFrom(in, c.trees[i])
	}
	fromVolume := func(rx *folio.Rx) error {
		tree, err := c.volumeTree(p, rx)
		if err != nil {
			return err
		}
		if within {
			in.within = tree
			if done, err := c.cloneTree(in, tree); done || err != nil {
				return err
			}
		}
		return c.copyFrom(in, tree)
	}
	if within {
		return fromVolume(&in.tx.Rx)
	}
	return p.View(c.ctx, fromVolume)
}

// volumeTree opens a source in a volume.
func (c *Copy) volumeTree(p *Place, rx *folio.Rx) (*volume.Source, error) {
	t := &volume.Source{Loc: p.Location, Rx: rx, Follow: !c.Recursive || p.Slash || p.Inside, Links: c.Archive}
	info, err := rx.Lstat(p.Path)
	if err == nil && t.Follow {
		info, err = rx.Stat(p.Path)
	}
	if err != nil {
		return nil, p.Failure(err)
	}
	if err := p.MustBeDir(info.IsDir()); err != nil {
		return nil, err
	}
	switch {
	case info.IsDir() && !c.Recursive:
		return nil, failure.Hint(p.Failure(folio.ErrIsDirectory), copiesAll)
	case !info.IsDir() && !info.Mode().IsRegular() && !c.Recursive:
		return nil, p.Failure(folio.ErrNotRegular)
	}
	return t, nil
}

func (c *Copy) copyFrom(in *copyIn, src tree.Source) error {
	err := (&tree.Copy{Ctx: c.ctx, To: in, Progress: c.progress}).Run(src)
	if err == errNothingToDo {
		return nil
	}
	return err
}

const copiedLine = "'%s' -> '%s'"

// copyTitle names an entry of a source.
func copyTitle(source, name string) string {
	switch {
	case name == ".":
		return source
	case strings.HasSuffix(source, "/"), strings.HasSuffix(source, ":"):
		return source + name
	case location.IsTree(source):
		return source + ":" + name
	}
	return source + "/" + name
}
