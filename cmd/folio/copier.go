package main

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
	"github.com/foliofs/folio/cmd/folio/internal/source"
)

// copyOptions are the flags of cp, put and get.
type copyOptions struct {
	recursive, preserve, archive bool
	noClobber, exact             bool
	create, quiet                bool
	onlyNewer, verbose           bool
}

// A place is a file of a copy, on disk or in a volume.
type place struct {
	operand        // in a volume
	disk    string // the path of a file on disk; "" for one in a volume
	stream  bool   // standard input or output
}

// A copier is one run of cp, put or get.
type copier struct {
	*streams
	copyOptions
	ctx      context.Context
	sources  []place
	dest     place
	trees    []source.Source // of the sources on disk, opened before anything is written; nil for other sources
	progress *progress
	into     bool            // dest is a directory
	taken    map[string]bool // names in dest that a source got
	names    firstNames      // of copies on disk
}

// diskPlace is a file on disk.
func diskPlace(arg string) place {
	p := place{disk: arg}
	last := arg
	for last != "" && os.IsPathSeparator(last[len(last)-1]) {
		last = last[:len(last)-1]
	}
	p.slash = last != arg
	name := filepath.Base(last)
	p.inside = last == "" || name == "." || name == ".."
	return p
}

// volumePlace is a file in a volume.
func volumePlace(arg string) place { return place{operand: operandOf(arg)} }

// anyPlace is a file in a volume if a colon follows the volume's name, and one on disk without.
func anyPlace(arg string) place {
	if exists(arg) || !strings.Contains(arg[len(filepath.VolumeName(arg)):], ":") {
		return diskPlace(arg)
	}
	return volumePlace(arg)
}

func (p *place) onDisk() bool { return p.disk != "" || p.stream }

// base is the name of a copy in another directory. It is "." if the files in p are copied.
func (p *place) base() string {
	if p.disk == "" || p.inside {
		return p.operand.base()
	}
	return filepath.Base(p.disk)
}

func (p *place) title() string {
	switch {
	case p.stream:
		return "standard input"
	case p.disk != "":
		return p.disk
	}
	return p.operand.String()
}

func (p *place) failure(err error) error {
	if p.onDisk() {
		return failure(p.title(), err)
	}
	return p.operand.fail(err)
}

var errNeedsName = errors.New("has no name of its own")

const copiesAll = "-r copies it with all that is in it"

var zeroTime time.Time

// run copies sources to dest.
func (c *copier) run(ctx context.Context) (err error) {
	c.ctx = ctx
	if c.archive {
		c.recursive, c.preserve = true, true
	}
	c.taken, c.names = make(map[string]bool), make(firstNames)
	c.progress = c.newProgress("copying", c.quiet)
	defer c.progress.done()
	defer c.close()
	if c.dest.onDisk() {
		return c.out()
	}
	if err := c.open(); err != nil {
		return err
	}
	return c.dest.update(ctx, c.streams, &c.create, c.in)
}

// open opens the sources on disk. It finds errors of them before a volume is changed.
func (c *copier) open() error {
	skip, err := skipVolume(c.dest.volume)
	if err != nil {
		return failure(c.dest.volume, errNoVolume)
	}
	c.trees = make([]source.Source, len(c.sources))
	for i := range c.sources {
		p := &c.sources[i]
		if !p.onDisk() {
			continue
		}
		if c.trees[i], err = c.openDisk(p, &source.Options{Skip: skip, Copies: !c.archive, Warn: c.warn(p)}); err != nil {
			return p.failure(err)
		}
	}
	return nil
}

func (c *copier) warn(p *place) func(name, what string) {
	return func(name, what string) { c.warnLeftOut(filepath.Join(p.disk, name), what) }
}

// openDisk opens a source on disk. Without -r it follows symbolic links on the command line, and
// reads a device or a named pipe to its end.
func (c *copier) openDisk(p *place, o *source.Options) (source.Source, error) {
	if p.stream {
		return c.spoolInput()
	}
	if p.disk == "" {
		return nil, fs.ErrNotExist
	}
	info, err := os.Stat(p.disk)
	switch {
	case c.recursive && (err == nil || !p.slash):
		return source.OpenTree(p.disk, o)
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, hint(p.failure(folio.ErrIsDirectory), copiesAll)
	case !info.Mode().IsRegular():
		return c.spool(func() (io.ReadCloser, error) { return os.Open(p.disk) })
	}
	resolved, err := filepath.EvalSymlinks(p.disk)
	if err != nil {
		return nil, err
	}
	return source.OpenTree(resolved, o)
}

func (c *copier) close() {
	for _, tree := range c.trees {
		if tree != nil {
			_ = tree.Close()
		}
	}
}

// in copies into a volume, in one transaction.
func (c *copier) in(tx *folio.Tx) (err error) {
	if c.into, err = destIn(&tx.Rx, &c.dest.operand, c.exact, len(c.sources)); err != nil {
		return err
	}
	in := &copyIn{streams: c.streams, ctx: c.ctx, tx: tx, loc: c.dest.location, how: &c.copyOptions}
	if len(c.sources) > 1 {
		in.written = make(map[writtenFile]bool)
	}
	if c.archive {
		in.names = make(firstNames)
	}
	for i := range c.sources {
		if err := c.copyIn(in, i); err != nil {
			return err
		}
	}
	return nil
}

// copyIn copies one source into the volume.
func (c *copier) copyIn(in *copyIn, i int) error {
	p := &c.sources[i]
	base := p.base()
	if p.stream && c.into {
		return hint(p.failure(errNeedsName), "write VOLUME:PATH/NAME")
	}
	in.top, in.mustDir = c.dest.path, c.dest.slash && !c.into
	in.inside = in.mustDir || c.into && base == "."
	if c.into {
		in.top = path.Join(c.dest.path, base)
	}
	in.title, in.from = p.title(), p.volume
	in.within, in.topIno, in.dirs = nil, 0, nil
	if p.onDisk() {
		return c.copyFrom(in, p, c.trees[i])
	}
	within := sameFile(p.volume, c.dest.volume)
	fromVolume := func(rx *folio.Rx) error {
		tree, err := c.volumeTree(p, rx)
		if err != nil {
			return err
		}
		if within {
			in.within = tree
		}
		return c.copyFrom(in, p, tree)
	}
	if within {
		return fromVolume(&in.tx.Rx)
	}
	return p.view(c.ctx, fromVolume)
}

// volumeTree opens a source in a volume.
func (c *copier) volumeTree(p *place, rx *folio.Rx) (*volumeTree, error) {
	t := &volumeTree{loc: p.location, rx: rx, follow: !c.recursive || p.slash || p.inside, links: c.archive}
	info, err := rx.Lstat(p.path)
	if err == nil && t.follow {
		info, err = rx.Stat(p.path)
	}
	if err != nil {
		return nil, p.failure(err)
	}
	if err := p.mustBeDir(info.IsDir()); err != nil {
		return nil, err
	}
	switch {
	case info.IsDir() && !c.recursive:
		return nil, hint(p.failure(folio.ErrIsDirectory), copiesAll)
	case !info.IsDir() && !info.Mode().IsRegular() && !c.recursive:
		return nil, p.failure(folio.ErrNotRegular)
	}
	return t, nil
}

func (c *copier) copyFrom(in *copyIn, p *place, src source.Source) error {
	err := (&treeCopy{ctx: c.ctx, to: in, progress: c.progress}).run(src)
	if own, ok := err.(*sinkError); ok {
		if own.Unwrap() == errNothingToDo {
			return nil
		}
		return own.Unwrap()
	}
	e, ok := errors.AsType[*source.EntryError](err)
	switch {
	case err == nil:
		return nil
	case c.ctx.Err() != nil:
		return context.Cause(c.ctx)
	case !ok:
		return p.failure(err)
	case p.onDisk():
		return &fs.PathError{Path: filepath.Join(p.title(), filepath.FromSlash(e.Name)), Err: e.Err}
	}
	return p.entryFailure(e)
}

const copiedLine = "'%s' -> '%s'"

// copyTitle names an entry of a source.
func copyTitle(source, name string) string {
	switch {
	case name == ".":
		return source
	case strings.HasSuffix(source, "/"), strings.HasSuffix(source, ":"):
		return source + name
	case volumeBefore(source+":") == source:
		return source + ":" + name
	}
	return source + "/" + name
}
