package convert

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

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/terminal"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/archive"
	"github.com/foliofs/folio/cmd/folio/internal/tree/volume"
	"github.com/foliofs/folio/cmd/folio/internal/value"
)

// An opener opens a source as archive.Open does.
type opener func(name string, stdin io.Reader, o *tree.Options) (tree.Source, error)

// An Import makes one volume, or adds to one.
type Import struct {
	*terminal.Streams
	location.Replacing
	Quiet      bool
	AllowEmpty bool
	MaxSize    value.ByteSize
	Excluded   []string

	open     opener // nil means archive.Open
	sources  []string
	mu       sync.Mutex        // guards left, and writing warnings
	left     int64             // files that could not be read
	src      tree.Source       // being read
	prefix   string            // of its names, if there are several sources
	operand  string            // the last argument
	dest     location.Location // the named volume, or a directory of one
	copy     *tree.Copy
	put      func(e *tree.Entry) error // adds an entry to the volume
	into     bool                      // dest is a directory of a volume that is there
	there    bool                      // a volume already
	entries  int64                     // that the source had
	replaced int64                     // files of a volume that was there
}

var errWholeOnly = errors.New("--force-any and --allow-empty are for VOLUME, not for VOLUME:DIR")

// SetOperands takes the arguments of the command line: sources, and the volume last.
func (i *Import) SetOperands(args []string) error {
	i.sources, i.operand = args[:len(args)-1], args[len(args)-1]
	i.dest = location.Root(i.operand)
	server := location.OnServer(i.operand)
	if !server && (location.VolumeBefore(i.operand) == "" || location.Exists(i.operand)) {
		return nil
	}
	i.dest = location.Parse(i.operand)
	i.into = !server || i.dest.Snapshot != "" || location.NamesDir(i.operand)
	if i.into && (i.ForceAny || i.AllowEmpty) {
		return errWholeOnly
	}
	return nil
}

// Run reads the sources. left is the number of files that could not be read.
func (i *Import) Run(ctx context.Context) (left int64, err error) {
	o, err := i.options()
	if err != nil {
		return 0, err
	}
	open := i.open
	if open == nil {
		open = archive.Open
	}
	opened := make([]tree.Source, len(i.sources))
	for n, name := range i.sources {
		if err := location.InFile(name, "folio cp -a copies from there"); err != nil {
			return 0, err
		}
		src, err := open(name, i.Stdin, o(name))
		if err != nil {
			if name == "-" {
				name = failure.StandardInput
			}
			return 0, failure.At(name, err)
		}
		defer src.Close()
		opened[n] = src
	}
	start := time.Now()
	stats, err := i.take(ctx, opened)
	if err != nil {
		return 0, err
	}
	left = i.left // the sources are not read any more
	if !i.Quiet {
		text := tree.Summary(stats, time.Since(start))
		if i.replaced > 0 {
			text += fmt.Sprintf("; %s replaced", value.Grouped(i.replaced))
		}
		if left > 0 {
			text += fmt.Sprintf("; %s could not be read", value.Count(left, "file", "files"))
		}
		fmt.Fprintf(i.Stdout, "%s: %s\n", i.Name(i.dest.String()), text)
	}
	return left, nil
}

// options checks the command line, and returns the options of a source by its name.
func (i *Import) options() (func(src string) *tree.Options, error) {
	exclude, err := tree.ParseExclude(i.Excluded)
	if err != nil {
		return nil, err
	}
	if err := i.check(); err != nil {
		return nil, err
	}
	skip, err := location.SkipVolume(i.dest.Volume, !i.into)
	if err != nil {
		return nil, err
	}
	return func(src string) *tree.Options {
		return &tree.Options{
			MaxSize: int64(i.MaxSize), Skip: skip, Exclude: exclude,
			Umask: value.Umask,
			Warn: func(name, what string) {
				i.mu.Lock()
				defer i.mu.Unlock()
				i.WarnLeftOut(filepath.Join(src, name), what)
			},
			Unreadable: func(name string, err error) {
				i.mu.Lock()
				defer i.mu.Unlock()
				i.left++
				i.WarnUnreadable(filepath.Join(src, filepath.FromSlash(name)), err)
			},
		}
	}, nil
}

// check returns early an error that making the volume would return.
func (i *Import) check() error {
	if i.into {
		return nil
	}
	for _, src := range i.sources {
		if err := i.CheckNew(i.operand, src); err != nil {
			return err
		}
	}
	i.there = location.Exists(i.dest.Volume) && !location.OnServer(i.dest.Volume)
	return nil
}

// take reads the sources, into a new volume or a directory of one.
func (i *Import) take(ctx context.Context, sources []tree.Source) (stats folio.BuildStats, err error) {
	p := i.NewProgress("importing", i.Quiet)
	defer p.Done()
	i.copy = &tree.Copy{Ctx: ctx, To: i, Progress: p}
	if p.Shown() {
		go func() {
			if size, ok := sizeOf(ctx, sources); ok {
				p.Total.Store(size)
			}
		}()
	}
	switch {
	case i.into:
		return i.addTo(ctx, i.dest, nil, sources)
	case location.OnServer(i.dest.Volume):
		create := true
		return i.addTo(ctx, i.dest, &create, sources)
	}
	return i.create(ctx, sources)
}

// addTo adds the files of the sources to a directory of a volume. create is passed to
// Location.Update.
func (i *Import) addTo(ctx context.Context, loc location.Location, create *bool, sources []tree.Source) (stats folio.BuildStats, err error) {
	err = loc.Update(ctx, i.Streams, create, func(tx *folio.Tx) error {
		a, err := volume.NewAddition(tx, loc, i.Force)
		if err != nil {
			return err
		}
		i.put = a.Add
		if err = i.takeAll(sources); err == nil {
			err = a.Finish()
		}
		stats, i.replaced = i.copy.Stats, a.Replaced
		stats.Dirs = a.NewDirs
		return err
	})
	return stats, err
}

// create makes a volume.
func (i *Import) create(ctx context.Context, sources []tree.Source) (stats folio.BuildStats, err error) {
	location.Sweep(i.dest.Volume)
	var own error // of fn
	err = folio.Create(ctx, i.dest.Volume, &folio.CreateOptions{Replace: i.Replaces()}, func(b *folio.Builder) error {
		i.put = func(e *tree.Entry) error {
			if e.Link != "" {
				return b.Link(e.Link, e.Name)
			}
			return e.AddTo(b, &e.Header)
		}
		if own = i.takeAll(sources); own == nil {
			stats, own = b.Stats(), i.checkEmpty()
		}
		return own
	})
	switch {
	case err == nil:
		return stats, nil
	case own != nil && !i.copy.SinkFailed:
		return stats, own
	}
	return stats, i.volumeFailure(err)
}

// checkEmpty keeps an empty archive from replacing a volume. The program that wrote it may have
// failed.
func (i *Import) checkEmpty() error {
	if i.entries == 0 && i.there && !i.AllowEmpty {
		return i.src.Fail(failure.ErrEmptyArchive)
	}
	return nil
}

// takeAll reads all sources.
func (i *Import) takeAll(sources []tree.Source) error {
	for n, src := range sources {
		i.src = src
		if len(sources) > 1 {
			i.prefix = sourceBase(i.sources[n])
		}
		if err := i.copy.Walk(src); err != nil {
			return err
		}
	}
	return nil
}

// sourceBase is the name of the directory in the volume that the files of one of several sources go
// into: the name of a directory, or of an archive without its ending.
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
	for _, ending := range []string{".gz", ".bz2", ".zst", ".tgz", ".tzst", ".tbz", ".tbz2", ".tar", ".zip", ".sqlar", ".db"} {
		if rest, ok := strings.CutSuffix(base, ending); ok && rest != "" {
			base = rest
		}
	}
	return base
}

// sizeOf adds up the sizes of sources.
func sizeOf(ctx context.Context, sources []tree.Source) (all int64, ok bool) {
	for _, src := range sources {
		size, ok := src.Size(ctx)
		if !ok {
			return 0, false
		}
		all += size
	}
	return all, true
}

// volumeFailure names the volume, in place of the temporary file that it is written to.
func (i *Import) volumeFailure(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return failure.Hint(failure.At(i.dest.Volume, err), "nothing was left behind")
}

// Add implements sink.
func (i *Import) Add(e *tree.Entry) error {
	i.entries++
	if i.prefix != "" {
		e.Name = path.Join(i.prefix, e.Name)
		if e.Link != "" {
			e.Link = path.Join(i.prefix, e.Link)
		}
	}
	return entryFailure(e, i.put(e))
}

// Finish implements sink. An addition is finished after the last source.
func (i *Import) Finish() error { return nil }

// entryFailure returns an error of an entry as a *tree.EntryError. Others are errors of the
// volume.
func entryFailure(e *tree.Entry, err error) error {
	pe, ok := err.(*fs.PathError)
	if !ok || pe.Path != e.Name {
		return err
	}
	switch err = pe.Err; {
	case errors.Is(err, fs.ErrExist):
		err = tree.ErrDuplicate
	case errors.Is(err, folio.ErrNotDirectory):
		err = tree.ErrParent
	case e.Link != "" && errors.Is(err, fs.ErrNotExist):
		err = tree.ErrLink
	}
	return &tree.EntryError{Name: e.Name, Err: err}
}
