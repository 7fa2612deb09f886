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

	"github.com/spf13/cobra"

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

// A copying is one run of cp, put or get.
type copying struct {
	*command
	copyOptions
	verb     string
	ctx      context.Context
	sources  []place
	dest     place
	trees    []source.Source // of the sources on disk, opened before anything is written; nil for others
	progress *progress
	into     bool                  // dest is a directory
	taken    map[string]bool       // names in dest that a source got
	names    map[sharedFile]string // of files on disk, as in a deposit
}

func (c *command) newCopying(verb string) *copying { return &copying{command: c, verb: verb} }

func (c *copying) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVarP(&c.recursive, "recursive", "r", false, "copy directories with all that is in them")
	flags.BoolVarP(&c.recursive, "Recursive", "R", false, "the same")
	flags.Lookup("Recursive").Hidden = true
	flags.BoolVarP(&c.preserve, "preserve", "p", false, "keep modes, owners and times")
	flags.BoolVarP(&c.archive, "archive", "a", false, "copy all there is: as -r and -p do, with hard links and extended attributes")
	flags.BoolVarP(&c.quiet, "quiet", "q", false, "show no progress")
	noClobberFlag(cmd, &c.noClobber)
	exactFlag(cmd, &c.exact)
	flags.BoolP("force", "f", false, "replace files that may not be written, too: that is always so")
	flags.BoolVarP(&c.onlyNewer, "update", "u", false, "pass over files that are not older than what is copied")
	flags.BoolVarP(&c.verbose, "verbose", "v", false, "name each file that is copied")
	flags.BoolFuncP("interactive", "i", "not supported; see -n and -u", func(string) error { return errNoQuestions })
	flags.Lookup("interactive").Hidden = true
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

// base is the name of a copy in another directory: "." for a copy of what is in p.
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

var (
	errNeedsName  = errors.New("has no name of its own")
	errIsVolume   = errors.New("is a volume")
	errNoneInside = errors.New("none of these is in a volume: write VOLUME:PATH, or use cp of the system")
)

const (
	copiesAll    = "-r copies it with all that is in it"
	severalFiles = "several files need a directory to go to"
)

var errNoQuestions = errors.New("a copy is one transaction and asks nothing: -n passes over files whose name is taken, -u over those that are not older")

var zeroTime time.Time

// run copies sources to dest.
func (c *copying) run(ctx context.Context) (err error) {
	c.ctx = ctx
	if c.archive {
		c.recursive, c.preserve = true, true
	}
	c.taken, c.names = make(map[string]bool), make(map[sharedFile]string)
	c.progress = c.newProgress(c.verb, c.quiet)
	defer c.progress.done()
	defer c.close()
	if c.dest.onDisk() {
		return c.out()
	}
	if err := c.open(); err != nil {
		return err
	}
	return c.update(ctx, c.dest.location, &c.create, c.in)
}

// open opens the sources on disk: what is wrong with them is found before a volume is touched.
func (c *copying) open() error {
	skip, err := c.skip()
	if err != nil {
		return err
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

// skip returns what of a directory on disk is not copied into the volume: the volume itself.
func (c *copying) skip() (func(source.FileID, string) bool, error) {
	dir, err := source.ParentID(c.dest.volume)
	if err != nil {
		return nil, failure(c.dest.volume, errNoVolume)
	}
	base := filepath.Base(c.dest.volume)
	return func(in source.FileID, name string) bool {
		return in == dir && (name == base || name == base+"-wal" || name == base+"-shm" || name == base+"-journal")
	}, nil
}

func (c *copying) warn(p *place) func(name, what string) {
	return func(name, what string) { c.warnLeftOut(filepath.Join(p.disk, name), what) }
}

// openDisk opens a source on disk. Without -r symbolic links on the command line are followed, and what is no regular file is
// read to its end.
func (c *copying) openDisk(p *place, o *source.Options) (source.Source, error) {
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

func (c *copying) close() {
	for _, tree := range c.trees {
		if tree != nil {
			_ = tree.Close()
		}
	}
}

// in copies into a volume, in one transaction.
func (c *copying) in(tx *folio.Tx) (err error) {
	if c.into, err = destIn(&tx.Rx, &c.dest.operand, c.exact, len(c.sources)); err != nil {
		return err
	}
	d := &deposit{command: c.command, ctx: c.ctx, tx: tx, loc: c.dest.location, how: &c.copyOptions, progress: c.progress}
	if len(c.sources) > 1 {
		d.written = make(map[writtenFile]bool)
	}
	if c.archive {
		d.names = make(map[sharedFile]string)
	}
	for i := range c.sources {
		if err := c.deposit(d, i); err != nil {
			return err
		}
	}
	return nil
}

// deposit copies one source into the volume.
func (c *copying) deposit(d *deposit, i int) error {
	p := &c.sources[i]
	base := p.base()
	if p.stream && c.into {
		return hint(p.failure(errNeedsName), "write VOLUME:PATH/NAME")
	}
	d.top, d.mustDir = c.dest.path, c.dest.slash && !c.into
	d.inside = d.mustDir || c.into && base == "."
	if c.into {
		d.top = path.Join(c.dest.path, base)
	}
	d.title = p.title()
	if d.from = p.volume; p.onDisk() {
		d.within = nil
		return c.depositFrom(d, p, c.trees[i])
	}
	if sameFile(p.volume, c.dest.volume) {
		return c.depositVolume(d, p, &d.tx.Rx, true)
	}
	return p.view(c.ctx, func(rx *folio.Rx) error { return c.depositVolume(d, p, rx, false) })
}

func (c *copying) depositVolume(d *deposit, p *place, rx *folio.Rx, within bool) error {
	tree, err := c.volumeTree(p, rx)
	if err != nil {
		return err
	}
	if d.within = nil; within {
		d.within = tree
	}
	return c.depositFrom(d, p, tree)
}

// volumeTree opens a source in a volume.
func (c *copying) volumeTree(p *place, rx *folio.Rx) (*volumeTree, error) {
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

func (c *copying) depositFrom(d *deposit, p *place, src source.Source) error {
	c.measure(src)
	err := d.put(src)
	switch {
	case err == nil || d.failed != nil:
		return err
	case c.ctx.Err() != nil:
		return context.Cause(c.ctx)
	}
	e, ok := errors.AsType[*source.EntryError](err)
	switch {
	case !ok:
		return p.failure(err)
	case p.onDisk():
		return &fs.PathError{Path: filepath.Join(p.title(), filepath.FromSlash(e.Name)), Err: e.Err}
	}
	return p.entryFailure(e)
}

// measure lets the progress know what is still to come.
func (c *copying) measure(src source.Source) {
	if !c.progress.shown() {
		return
	}
	if more, ok := src.Size(c.ctx); ok {
		c.progress.total.Store(c.progress.bytes + more)
	}
}
