package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/source"
)

// An importer makes one volume, or adds to one.
type importer struct {
	*command
	replacing
	quiet      bool
	allowEmpty bool
	maxSize    byteSize
	excluded   []string

	sources  []string
	mu       sync.Mutex    // guards left, and writing warnings
	left     int64         // files that could not be read
	src      source.Source // the one that is read
	srcName  string
	prefix   string // what its names get, if there are several; "" for one
	volume   string
	progress *progress
	target   importTarget
	into     *location // a directory of a volume that is there; nil if one is made
	there    bool      // a volume already
	entries  int64     // that the source had
	replaced int64     // files of a volume that was there
}

// An importTarget is what the files of an import are added to: a *folio.Builder or an *addition.
type importTarget interface {
	Add(h *folio.Header, content io.Reader) error
	AddBytes(h *folio.Header, content []byte) error
	Link(oldname, newname string) error
	Stats() folio.BuildStats
}

const importLong = `Make a volume of a tree: of a directory, or of an archive (tar, plain or compressed by gzip or bzip2; zip; or
SQLite archive). What SRC is, its content decides. A dash reads a tar archive from standard input.

Modes, owners, times in nanoseconds, symbolic links, hard links, devices, fifos, holes and the extended attributes
user.* are kept, as far as the source has them. Sockets are left out, with a warning.

The volume appears complete or not at all. An existing file is refused; --force replaces a volume at that moment, and
--force-any whatever file is there.
A file that cannot be read is left out with a warning, and the exit code is 3; so is a hard link of an archive to a file
that --exclude leaves out. Several SRC come to lie in directories of
their names. With VOLUME:DIR the files come into a directory of a volume that is there, all of them or none, in one transaction:
other programs cannot write to the volume meanwhile. DIR is made if it does not exist. Directories that are there are
merged; any other name that is there is refused, and with --force replaced by a file that comes. Directories and files never replace
each other.
A tree that changes while it is read is an error, and so is an archive that is cut off, damaged, or has names that lead out of it.`

func (c *command) importCommand() *cobra.Command {
	i := &importer{command: c}
	cmd := &cobra.Command{
		Annotations: map[string]string{cleansUp: "yes"},
		Use:         "import SRC... VOLUME[:DIR]",
		Short:       "Make a volume of a directory or an archive",
		Long:        importLong,
		Example: `  folio import ~/photos photos.folio
  folio import backup.tar.gz backup.folio
  folio import --exclude '*.o' --exclude /build src work.folio
  folio import may.zip photos.folio:2026/may
  xz -dc linux.tar.xz | folio import - linux.folio`,
		Args: i.operands,
		RunE: func(cmd *cobra.Command, args []string) error { return i.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	i.flags(flags, "VOLUME")
	flags.Lookup("force").Usage += "; with DIR, replace files that are there"
	flags.BoolVar(&i.allowEmpty, "allow-empty", false, "with --force: let even an empty archive replace VOLUME")
	flags.BoolVarP(&i.quiet, "quiet", "q", false, "show neither progress nor summary")
	flags.StringArrayVar(&i.excluded, "exclude", nil, "leave out what matches this pattern: *.o, /build, a/**/b, cache/; may be given several times")
	flags.Var(&i.maxSize, "max-size", "refuse more than this many bytes of contents, such as 10G; 0 means no limit")
	return cmd
}

// operands reads the arguments.
func (i *importer) operands(cmd *cobra.Command, args []string) error {
	if err := between(2, -1, "SRC and VOLUME[:DIR]")(cmd, args); err != nil {
		return err
	}
	i.sources, i.volume = args[:len(args)-1], args[len(args)-1]
	if volumeBefore(i.volume) == "" || exists(i.volume) {
		return nil
	}
	loc := locate(i.volume)
	i.into, i.volume = &loc, loc.volume
	if i.forceAny || i.allowEmpty {
		return usageError(cmd, errWholeOnly)
	}
	return nil
}

var errWholeOnly = errors.New("--force-any and --allow-empty are for VOLUME, not for VOLUME:DIR")

var errEmptyArchive = errors.New("is an empty archive, and the volume is not")

func (i *importer) run(ctx context.Context) error {
	o, err := i.options()
	if err != nil {
		return err
	}
	open := make([]source.Source, len(i.sources))
	for n, name := range i.sources {
		i.srcName = name
		src, err := source.Open(name, i.stdin, o(name))
		if err != nil {
			return failure(i.srcTitle(), err)
		}
		defer src.Close()
		open[n] = src
	}
	start := time.Now()
	stats, err := i.take(ctx, open)
	if err != nil {
		return err
	}
	left := i.left // nobody reads any more
	if !i.quiet {
		text := summary(stats, time.Since(start))
		if i.replaced > 0 {
			text += fmt.Sprintf("; %s replaced", grouped(i.replaced))
		}
		if left > 0 {
			text += fmt.Sprintf("; %s could not be read", count(left, "file", "files"))
		}
		fmt.Fprintf(i.stdout, "%s: %s\n", i.name(i.destination().String()), text)
	}
	if left > 0 {
		return errPartial
	}
	return nil
}

// options checks the command line, and returns the options of a source by its name.
func (i *importer) options() (func(src string) *source.Options, error) {
	exclude, err := source.ParseExclude(i.excluded)
	if err != nil {
		return nil, err
	}
	if err := i.check(); err != nil {
		return nil, err
	}
	skip, err := i.skip()
	if err != nil {
		return nil, err
	}
	return func(src string) *source.Options {
		return &source.Options{
			MaxSize: int64(i.maxSize), Skip: skip, Exclude: exclude,
			Warn: func(name, what string) {
				i.mu.Lock()
				defer i.mu.Unlock()
				i.warnLeftOut(filepath.Join(src, name), what)
			},
			Unreadable: func(name string, err error) {
				i.mu.Lock()
				defer i.mu.Unlock()
				i.left++
				i.warnUnreadable(filepath.Join(src, filepath.FromSlash(name)), err)
			},
		}
	}, nil
}

// check refuses early what cannot be made.
func (i *importer) check() error {
	if i.into != nil {
		return nil
	}
	for _, src := range i.sources {
		if err := i.checkNew(i.volume, src); err != nil {
			return err
		}
	}
	i.there = exists(i.volume)
	return nil
}

// destination is what the command line names last.
func (i *importer) destination() location {
	if i.into != nil {
		return *i.into
	}
	return location{i.volume, "."}
}

// The loader writes to a file of this form beside the volume, until it is complete.
const (
	tempPrefix = ".folio-build-"
	tempSuffix = ".tmp"
)

// skip returns what to pass over when the volume is made within the tree that it is made of: itself, and the
// temporary file, which is not there yet.
func (i *importer) skip() (func(source.FileID, string) bool, error) {
	if i.into != nil {
		return skipVolume(i.volume)
	}
	dir, err := source.ParentID(i.volume)
	if err != nil {
		return nil, err
	}
	before := make(map[string]bool)
	list, _ := os.ReadDir(filepath.Dir(i.volume)) // one that cannot be listed cannot be a source either
	for _, d := range list {
		before[d.Name()] = true
	}
	base := filepath.Base(i.volume)
	return func(in source.FileID, name string) bool {
		isTemp := strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, tempSuffix) && !before[name]
		return in == dir && (name == base || isTemp)
	}, nil
}

// take reads the sources, into a new volume or a directory of one.
func (i *importer) take(ctx context.Context, sources []source.Source) (stats folio.BuildStats, err error) {
	i.progress = i.newProgress("importing", i.quiet)
	defer i.progress.done()
	if i.progress.shown() {
		go i.measure(ctx, sources)
	}
	if i.into != nil {
		return i.addTo(ctx, *i.into, sources)
	}
	return i.create(ctx, sources)
}

// addTo adds what is in the sources to a directory of a volume.
func (i *importer) addTo(ctx context.Context, loc location, sources []source.Source) (stats folio.BuildStats, err error) {
	err = i.update(ctx, loc, nil, func(tx *folio.Tx) error {
		a, err := newAddition(tx, loc, i.force)
		if err != nil {
			return err
		}
		i.target = a
		if err = i.takeAll(ctx, sources); err == nil {
			err = a.finish()
		}
		stats, i.replaced = a.stats, a.replaced
		return ownError(err)
	})
	return stats, err
}

// ownError takes the mark off an error that says all.
func ownError(err error) error {
	if e, ok := errors.AsType[*sourceError](err); ok {
		return e.error
	}
	for e, ok := errors.AsType[*volumeError](err); ok; e, ok = errors.AsType[*volumeError](err) {
		err = e.error
	}
	return err
}

// create makes a volume.
func (i *importer) create(ctx context.Context, sources []source.Source) (stats folio.BuildStats, err error) {
	sweep(i.volume)
	err = folio.Create(ctx, i.volume, &folio.CreateOptions{Replace: i.replaces()}, func(b *folio.Builder) error {
		i.target = b
		if err := i.takeAll(ctx, sources); err != nil {
			return err
		}
		stats = b.Stats()
		return i.checkEmpty()
	})
	if err != nil && ctx.Err() != nil {
		return stats, context.Cause(ctx)
	}
	return stats, i.volumeFailure(err)
}

// checkEmpty keeps a volume from being replaced by nothing: what wrote the archive may have failed.
func (i *importer) checkEmpty() error {
	if i.entries == 0 && i.there && !i.allowEmpty {
		return i.sourceFailure(errEmptyArchive)
	}
	return nil
}

// takeAll reads all sources.
func (i *importer) takeAll(ctx context.Context, sources []source.Source) error {
	for n, src := range sources {
		if err := i.takeOne(ctx, i.sources[n], src); err != nil {
			return err
		}
	}
	return nil
}

// takeOne reads one source.
func (i *importer) takeOne(ctx context.Context, name string, src source.Source) error {
	i.src, i.srcName = src, name
	if len(i.sources) > 1 {
		i.prefix = sourceBase(name)
	}
	return i.sourceFailure(src.Walk(ctx, i.add))
}

// sourceBase is the name that what is in one of several sources gets in the volume: that of a directory, or of an archive without its ending.
func sourceBase(name string) string {
	if name == "-" {
		return "stdin"
	}
	if abs, err := filepath.Abs(name); err == nil {
		name = abs
	}
	base := filepath.Base(name)
	if info, err := os.Stat(name); err != nil || info.IsDir() {
		return base
	}
	for _, ending := range []string{".gz", ".bz2", ".tgz", ".tbz", ".tbz2", ".tar", ".zip", ".sqlar"} {
		if rest, ok := strings.CutSuffix(base, ending); ok && rest != "" {
			base = rest
		}
	}
	return base
}

// measure finds out, beside the import, how long the progress bar is.
func (i *importer) measure(ctx context.Context, sources []source.Source) {
	var all int64
	for _, src := range sources {
		total, ok := src.Size(ctx)
		if !ok {
			return
		}
		all += total
	}
	i.progress.total.Store(all)
}

// sourceFailure names the source and the file in it, unless the error is about the volume.
func (i *importer) sourceFailure(err error) error {
	if _, ok := errors.AsType[*volumeError](err); ok || err == nil {
		return err
	}
	e, ok := errors.AsType[*source.EntryError](err)
	switch {
	case !ok:
		err = failure(i.srcTitle(), err)
	case i.src.OnDisk():
		err = &fs.PathError{Path: filepath.Join(i.srcName, filepath.FromSlash(e.Name)), Err: e.Err}
	default:
		err = &fs.PathError{Path: i.srcTitle(), Err: e}
	}
	return &sourceError{err}
}

func (i *importer) srcTitle() string {
	if i.srcName == "-" {
		return "standard input"
	}
	return i.srcName
}

// A sourceError is about the source, and a volumeError about the volume, while both are at work.
type (
	sourceError struct{ error }
	volumeError struct{ error }
)

func (e *sourceError) Unwrap() error { return e.error }
func (e *volumeError) Unwrap() error { return e.error }

// volumeFailure names the volume, in place of the temporary file that it is written to.
func (i *importer) volumeFailure(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*sourceError](err); ok {
		return e.error
	}
	if e, ok := errors.AsType[*volumeError](err); ok {
		err = e.error
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return hint(failure(i.volume, err), "nothing was left behind")
}

// add puts one entry into the volume.
func (i *importer) add(e *source.Entry) error {
	i.entries++
	if i.prefix != "" {
		e.Name = path.Join(i.prefix, e.Name)
		if e.Link != "" {
			e.Link = path.Join(i.prefix, e.Link)
		}
	}
	if err := i.put(e); err != nil {
		return entryFailure(e, err)
	}
	i.progress.addFile()
	return nil
}

func (i *importer) put(e *source.Entry) error {
	switch {
	case e.Link != "":
		return i.target.Link(e.Link, e.Name)
	case e.Content != nil:
		return i.target.Add(&e.Header, countedReader{e.Content, i.progress})
	}
	i.progress.addBytes(e.Size)
	return i.target.AddBytes(&e.Header, e.Data)
}

// entryFailure tells what is wrong with an entry from what is wrong with writing the volume.
func entryFailure(e *source.Entry, err error) error {
	pe, ok := err.(*fs.PathError)
	if !ok || pe.Path != e.Name {
		return &volumeError{err}
	}
	switch err = pe.Err; {
	case errors.Is(err, fs.ErrExist):
		err = source.ErrDuplicate
	case errors.Is(err, folio.ErrNotDirectory):
		err = source.ErrParent
	case e.Link != "" && errors.Is(err, fs.ErrNotExist):
		err = source.ErrLink
	}
	return &source.EntryError{Name: e.Name, Err: err}
}

// summary says what was copied, and how fast.
func summary(s folio.BuildStats, took time.Duration) string {
	var b strings.Builder
	b.WriteString(count(s.Files, "file", "files"))
	for _, n := range []struct {
		n                int64
		singular, plural string
	}{
		{s.Dirs, "directory", "directories"},
		{s.Symlinks, "symlink", "symlinks"},
		{s.Links, "hard link", "hard links"},
		{s.Others, "special file", "special files"},
	} {
		if n.n > 0 {
			fmt.Fprintf(&b, ", %s", count(n.n, n.singular, n.plural))
		}
	}
	seconds := took.Seconds()
	fmt.Fprintf(&b, ", %s in %.2f s (%s/s)", metricSize(s.Bytes), seconds, metricSize(int64(float64(s.Bytes)/seconds)))
	return b.String()
}
