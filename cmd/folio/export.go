package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/source"
	"github.com/foliofs/folio/cmd/folio/internal/target"
)

// An exporter writes a directory of a volume to disk.
type exporter struct {
	*command
	force, quiet, noOwner bool
	format                string // "" is what the name of DEST says

	loc      location
	dir      string
	rx       *folio.Rx
	ctx      context.Context
	progress *progress
	stats    folio.BuildStats
}

const exportLong = `Write a volume, or a directory of it, to DEST: a directory on disk, or an archive.

A DEST that ends in .tar, .tar.gz, .tgz, .zip or .sqlar becomes an archive, unless it is a directory; a dash writes a tar archive to
standard output. --format says otherwise. An archive appears complete or not at all. An existing one is refused, or with
--force replaced at that moment.

Any other DEST is a directory, which is made if it does not exist. What is in PATH comes to lie in it. Modes, times in nanoseconds,
symbolic links, hard links, holes and extended attributes come back as they were; owners and devices only for root, and
others lose setuid and setgid on files that were not theirs. Whatever names and links the volume holds, nothing is written outside
of DEST. A directory that is not empty is refused, or with --force added to: files in the way are replaced, directories are kept.
If something goes wrong, what was written into a new or empty one is removed.`

func (c *command) exportCommand() *cobra.Command {
	e := &exporter{command: c}
	cmd := &cobra.Command{
		Annotations: map[string]string{cleansUp: "yes"},
		Use:         "export VOLUME[:PATH] DEST",
		Short:       "Write a volume to a directory or an archive",
		Long:        exportLong,
		Example: `  folio export photos.folio restored
  folio export goroot.folio:src/io io
  folio export photos.folio photos.tar.gz
  folio export photos.folio - | zstd > photos.tar.zst`,
		Args: between(2, 2, "VOLUME[:PATH] and DEST"),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return completeLocation(cmd, args, word)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			e.loc, e.dir, e.ctx = locate(args[0]), args[1], cmd.Context()
			return e.run()
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&e.force, "force", "f", false, "add to a directory that is not empty, or replace an archive")
	flags.StringVar(&e.format, "format", "", "what DEST becomes: dir, tar, tar.gz, zip or sqlar")
	flags.BoolVarP(&e.quiet, "quiet", "q", false, "show neither progress nor summary")
	flags.BoolVar(&e.noOwner, "no-owner", false, "as root: do not give files the owners they had; in an archive, they belong to you")
	return cmd
}

var (
	errNotEmpty = errors.New("is not empty")
	errNotDir   = errors.New("is not a directory")
)

func (e *exporter) run() error {
	if err := mayName(e.dir, "folio cp -r copies within a volume and between volumes"); err != nil {
		return err
	}
	format, err := e.archiveFormat()
	if err != nil {
		return err
	}
	start := time.Now()
	err = e.loc.view(e.ctx, func(rx *folio.Rx) error {
		e.rx = rx
		info, err := rx.Stat(e.loc.path)
		if err != nil {
			return e.loc.failure(e.loc.path, err)
		}
		if !info.IsDir() {
			return e.loc.failure(e.loc.path, errNotDir)
		}
		if format != 0 {
			return e.archive(format)
		}
		return e.into()
	})
	if err != nil {
		return err
	}
	if !e.quiet && e.dir != "-" {
		fmt.Fprintf(e.stdout, "%s: %s\n", e.name(e.dir), summary(e.stats, time.Since(start)))
	}
	return nil
}

// into exports to DIR, and empties it again after an error if it was new or empty.
func (e *exporter) into() (err error) {
	made, err := e.makeDir()
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(e.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	empty, err := e.checkEmpty(root)
	if err != nil {
		return err
	}
	if err = e.write(root, empty); err != nil && empty {
		err = e.undo(root, made, err)
	}
	return err
}

func (e *exporter) makeDir() (made bool, err error) {
	if err = os.Mkdir(e.dir, 0o777); errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

func (e *exporter) checkEmpty(root *os.Root) (empty bool, err error) {
	f, err := root.Open(".")
	if err != nil {
		return false, failure(e.dir, err)
	}
	defer f.Close()
	names, _ := f.Readdirnames(1)
	if len(names) > 0 && !e.force {
		return false, failure(e.dir, errNotEmpty)
	}
	return len(names) == 0, nil
}

// undo removes what was written and tells about it.
func (e *exporter) undo(root *os.Root, made bool, err error) error {
	f, openErr := root.Open(".")
	if openErr != nil {
		return err
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	for _, name := range names {
		_ = root.RemoveAll(name)
	}
	if made {
		_ = os.Remove(e.dir)
	}
	return err
}

func (e *exporter) write(root *os.Root, empty bool) error {
	o := &target.Options{Replace: e.force, Owner: os.Geteuid() == 0 && !e.noOwner, Warn: e.warn}
	tree, err := target.New(root, o)
	if err != nil {
		return failure(e.dir, err)
	}
	defer tree.Close()
	e.progress = e.newProgress("exporting", e.quiet)
	defer e.progress.done()
	src := &volumeTree{loc: e.loc, rx: e.rx, follow: true, links: true}
	e.measure(src)
	x := &extraction{tree: tree, dir: e.dir, top: ".", attr: wholeAttr, progress: e.progress, volume: e.loc.volume}
	err = src.Walk(e.ctx, x.add)
	if err == nil {
		err = x.finish(empty)
	}
	e.stats = x.stats
	return e.failure(err)
}

// failure names the file on disk in an error of writing it, and the one in the volume in an error of reading that.
func (e *exporter) failure(err error) error {
	if e.ctx.Err() != nil {
		return context.Cause(e.ctx)
	}
	return extractionFailure(e.loc, e.dir, err)
}

// extractionFailure names the file on disk in an error of writing it below dir, and the one in the volume, below loc, in an
// error of reading that.
func extractionFailure(loc location, dir string, err error) error {
	if pe, ok := err.(*fs.PathError); ok && pe.Op == target.Op {
		return &fs.PathError{Path: filepath.Join(dir, filepath.FromSlash(pe.Path)), Err: pe.Err}
	}
	if ee, ok := errors.AsType[*source.EntryError](err); ok {
		return loc.entryFailure(ee)
	}
	return err
}

// entryFailure says what is wrong with an entry of the volumeTree at l.
func (l location) entryFailure(e *source.EntryError) error {
	name := path.Join(l.path, e.Name)
	if errors.Is(e.Err, target.ErrName) {
		name = l.path + "/" + e.Name // as it is, and not where it would lead
	}
	return l.failure(name, e.Err)
}

func (e *exporter) warn(name, what string) {
	e.warnUnmakeable(filepath.Join(e.dir, name), what)
}
