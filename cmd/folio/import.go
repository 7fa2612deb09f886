package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/source"
)

// An importer makes one volume. It is the sink of a treeCopy.
type importer struct {
	*command
	replacing
	quiet      bool
	allowEmpty bool
	maxSize    int64
	excluded   []string

	src, volume string
	mu          sync.Mutex // guards left, and writing warnings
	left        int64      // files that could not be read
	from        source.Source
	to          *folio.Builder
	failed      error // of to
	entries     int64 // that the source had
}

const importLong = `Make a volume of a tree: of a directory, or of an archive (tar, plain or compressed by gzip or bzip2,
zip, or SQLite archive). The content of SRC decides which one it is. A dash reads a tar archive from
standard input.

Modes, owners, times in nanoseconds, symbolic links, hard links, devices, fifos, holes and the extended
attributes user.* are kept, as far as the source has them. Sockets are left out, with a warning.

The volume appears complete or not at all. An existing file is refused. --force replaces a volume at
that moment, and --force-any any file.

A file that cannot be read is left out with a warning, and the exit code is 3. The same holds for a
hard link of an archive to a file that --exclude leaves out.

A tree that changes while it is read is an error, and so is an archive that is cut off, damaged, or has
names that lead out of it.`

func (c *command) importCommand() *cobra.Command {
	i := &importer{command: c}
	cmd := writingCommand("import SRC VOLUME", "Make a volume of a directory or an archive",
		importLong,
		`  folio import ~/photos photos.folio
  folio import backup.tar.gz backup.folio
  folio import --exclude '*.o' --exclude /build src work.folio
  xz -dc linux.tar.xz | folio import - linux.folio`,
		between(2, 2, "SRC and VOLUME"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		i.src, i.volume = args[0], args[1]
		return i.run(cmd.Context())
	}
	flags := cmd.Flags()
	i.flags(flags, "VOLUME")
	flags.BoolVar(&i.allowEmpty, "allow-empty", false, "with --force: let even an empty archive replace VOLUME")
	flags.BoolVarP(&i.quiet, "quiet", "q", false, "show neither progress nor summary")
	flags.StringArrayVar(&i.excluded, "exclude", nil, "leave out what matches this pattern: *.o, /build, a/**/b, cache/; may be given several times")
	flags.Func("max-size", "refuse contents of more than this `size` in bytes, such as 10G; 0 means no limit", setTo(&i.maxSize, parseSize))
	return cmd
}

func (i *importer) run(ctx context.Context) error {
	o, err := i.options()
	if err != nil {
		return err
	}
	if i.from, err = source.Open(i.src, i.stdin, o); err != nil {
		return failure(i.title(), err)
	}
	defer i.from.Close()
	start := time.Now()
	stats, err := i.create(ctx)
	if err != nil {
		return err
	}
	left := i.left // the sources are not read any more
	if !i.quiet {
		text := summary(stats, time.Since(start))
		if left > 0 {
			text += fmt.Sprintf("; %s could not be read", count(left, "file", "files"))
		}
		fmt.Fprintf(i.stdout, "%s: %s\n", i.name(i.volume), text)
	}
	if left > 0 {
		return errPartial
	}
	return nil
}

// options checks the command line, and returns the options of the source.
func (i *importer) options() (*source.Options, error) {
	exclude, err := source.ParseExclude(i.excluded)
	if err != nil {
		return nil, err
	}
	if err := i.checkNew(i.volume, i.src); err != nil {
		return nil, err
	}
	skip, err := skipVolume(i.volume)
	if err != nil {
		return nil, err
	}
	return &source.Options{
		MaxSize: i.maxSize, Skip: skip, Exclude: exclude,
		Warn: func(name, what string) {
			i.mu.Lock()
			defer i.mu.Unlock()
			i.warnLeftOut(filepath.Join(i.src, name), what)
		},
		Unreadable: func(name string, err error) {
			i.mu.Lock()
			defer i.mu.Unlock()
			i.left++
			i.warnUnreadable(filepath.Join(i.src, filepath.FromSlash(name)), err)
		},
	}, nil
}

// create makes the volume of the source.
func (i *importer) create(ctx context.Context) (stats folio.BuildStats, err error) {
	there := exists(i.volume)
	sweep(i.volume)
	t := &treeCopy{ctx: ctx, to: i, progress: i.newProgress("importing", i.quiet)}
	defer t.progress.done()
	if t.progress.shown() {
		go func() { // concurrently, as it may take long
			if bytes, ok := i.from.Size(ctx); ok {
				t.progress.total.Store(bytes)
			}
		}()
	}
	var own error // of the source
	err = folio.Create(ctx, i.volume, &folio.CreateOptions{Replace: i.replaces()}, func(b *folio.Builder) error {
		i.to = b
		own = i.from.Walk(ctx, t.add)
		if own == nil && i.entries == 0 && there && !i.allowEmpty {
			own = errEmptyArchive // the program that wrote it may have failed
		}
		stats = b.Stats()
		return own
	})
	switch {
	case err == nil:
		return stats, nil
	case ctx.Err() != nil:
		return stats, context.Cause(ctx)
	case own != nil && own != i.failed:
		return stats, i.sourceFailure(own)
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok { // about the temporary file that becomes the volume
		err = e.Err
	}
	return stats, hint(failure(i.volume, err), "nothing was left behind")
}

// sourceFailure names the source in an error, and the file in it.
func (i *importer) sourceFailure(err error) error {
	e, ok := errors.AsType[*source.EntryError](err)
	switch {
	case !ok:
		return failure(i.title(), err)
	case i.from.OnDisk():
		return &fs.PathError{Path: filepath.Join(i.src, filepath.FromSlash(e.Name)), Err: e.Err}
	}
	return &fs.PathError{Path: i.title(), Err: e}
}

func (i *importer) title() string {
	if i.src == "-" {
		return "standard input"
	}
	return i.src
}

// add implements sink.
func (i *importer) add(e *source.Entry) (err error) {
	i.entries++
	if e.Link != "" {
		err = i.to.Link(e.Link, e.Name)
	} else {
		err = e.AddTo(i.to, &e.Header)
	}
	err = entryFailure(e, err)
	if _, ofEntry := err.(*source.EntryError); !ofEntry {
		i.failed = err
	}
	return err
}

// finish implements sink. The builder sets the times of directories.
func (i *importer) finish() error { return nil }

// entryFailure returns an error of an entry as a *source.EntryError. Others are errors of the
// volume.
func entryFailure(e *source.Entry, err error) error {
	pe, ok := err.(*fs.PathError)
	if !ok || pe.Path != e.Name {
		return err
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
