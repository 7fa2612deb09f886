package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/source"
)

// An importer makes one volume.
type importer struct {
	*command
	replacing
	quiet      bool
	allowEmpty bool
	maxSize    byteSize

	src      source.Source
	srcName  string
	volume   string
	progress *progress
	builder  *folio.Builder
	there    bool  // a volume already
	entries  int64 // that the source had
}

const importLong = `Make a volume of a tree: of a directory, or of an archive (tar, plain or compressed by gzip or bzip2; zip; or
SQLite archive). What SRC is, its content decides. A dash reads a tar archive from standard input.

Modes, owners, times in nanoseconds, symbolic links, hard links, devices, fifos, holes and the extended attributes
user.* are kept, as far as the source has them. Sockets are left out, with a warning.

The volume appears complete or not at all. An existing file is refused; --force replaces a volume at that moment, and
--force-any whatever file is there.
A tree that changes while it is read is an error, and so is an archive that is cut off, damaged, or has names that lead out of it.`

func (c *command) importCommand() *cobra.Command {
	i := &importer{command: c}
	cmd := &cobra.Command{
		Annotations: map[string]string{cleansUp: "yes"},
		Use:         "import SRC VOLUME",
		Short:       "Make a volume of a directory or an archive",
		Long:        importLong,
		Example: `  folio import ~/photos photos.folio
  folio import backup.tar.gz backup.folio
  xz -dc linux.tar.xz | folio import - linux.folio`,
		Args: between(2, 2, "SRC and VOLUME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			i.srcName, i.volume = args[0], args[1]
			return i.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	i.flags(flags, "VOLUME")
	flags.BoolVar(&i.allowEmpty, "allow-empty", false, "with --force: let even an empty archive replace VOLUME")
	flags.BoolVarP(&i.quiet, "quiet", "q", false, "show neither progress nor summary")
	flags.Var(&i.maxSize, "max-size", "refuse more than this many bytes of contents, such as 10G; 0 means no limit")
	return cmd
}

var errEmptyArchive = errors.New("is an empty archive, and the volume is not")

func (i *importer) run(ctx context.Context) error {
	if err := i.checkNew(i.volume, i.srcName); err != nil {
		return err
	}
	i.there = exists(i.volume)
	skip, err := i.skip()
	if err != nil {
		return err
	}
	i.src, err = source.Open(i.srcName, i.stdin, &source.Options{MaxSize: int64(i.maxSize), Skip: skip, Warn: i.warn})
	if err != nil {
		return failure(i.srcTitle(), err)
	}
	defer i.src.Close()
	sweep(i.volume)
	start := time.Now()
	stats, err := i.create(ctx)
	if err != nil {
		return err
	}
	if !i.quiet {
		fmt.Fprintf(i.stdout, "%s: %s\n", i.name(i.volume), summary(stats, time.Since(start)))
	}
	return nil
}

// The loader writes to a file of this form beside the volume, until it is complete.
const (
	tempPrefix = ".folio-build-"
	tempSuffix = ".tmp"
)

// skip returns what to pass over when the volume is made within the tree that it is made of: itself, and the
// temporary file, which is not there yet.
func (i *importer) skip() (func(source.FileID, string) bool, error) {
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

func (i *importer) warn(name, what string) {
	i.warnLeftOut(filepath.Join(i.srcName, name), what)
}

func (i *importer) create(ctx context.Context) (stats folio.BuildStats, err error) {
	i.progress = i.newProgress("importing", i.quiet)
	defer i.progress.done()
	if i.progress.shown() {
		go i.measure(ctx)
	}
	err = folio.Create(ctx, i.volume, &folio.CreateOptions{Replace: i.replaces()}, func(b *folio.Builder) error {
		i.builder = b
		err := i.src.Walk(ctx, i.add)
		if err == nil {
			err = i.checkEmpty()
		}
		stats = b.Stats()
		return i.sourceFailure(err)
	})
	if err != nil && ctx.Err() != nil {
		return stats, context.Cause(ctx)
	}
	return stats, i.volumeFailure(err)
}

// checkEmpty keeps a volume from being replaced by nothing: what wrote the archive may have failed.
func (i *importer) checkEmpty() error {
	if i.entries == 0 && i.there && !i.allowEmpty {
		return errEmptyArchive
	}
	return nil
}

// measure finds out, beside the import, how long the progress bar is.
func (i *importer) measure(ctx context.Context) {
	if total, ok := i.src.Size(ctx); ok {
		i.progress.total.Store(total)
	}
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
	if err := i.put(e); err != nil {
		return entryFailure(e, err)
	}
	i.progress.addFile()
	return nil
}

func (i *importer) put(e *source.Entry) error {
	switch {
	case e.Link != "":
		return i.builder.Link(e.Link, e.Name)
	case e.Content != nil:
		return i.builder.Add(&e.Header, countedReader{e.Content, i.progress})
	}
	i.progress.addBytes(e.Size)
	return i.builder.AddBytes(&e.Header, e.Data)
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
