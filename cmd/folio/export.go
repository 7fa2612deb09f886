package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/target"
	"github.com/foliofs/folio/cmd/folio/internal/treecopy"
)

// An exporter writes a directory of a volume to disk.
type exporter struct {
	*command
	force, quiet, noOwner bool
	format                string // "" lets the name of DEST decide

	loc   location.Location
	dir   string
	rx    *folio.Rx
	ctx   context.Context
	stats folio.BuildStats
}

const exportLong = `Write a volume, or a directory of it, to DEST: a directory on disk, or an archive.

A DEST that ends in .tar, .tar.gz, .tgz, .zip or .sqlar becomes an archive, unless it is a directory. A
dash writes a tar archive to standard output. --format overrides this. An archive appears complete or
not at all. An existing one is refused, or with --force replaced at that moment.

Any other DEST is a directory, which is made if it does not exist. It gets the files in PATH. Modes,
times in nanoseconds, symbolic links, hard links, holes and extended attributes are restored. Only root
restores owners and devices. For any other user, files of another owner lose setuid and setgid.
Whatever names and links the volume holds, nothing is written outside of DEST. A directory that is not
empty is refused, or with --force added to: files with the same name are replaced, directories are
kept. After an error, a directory that was new or empty is empty again.`

func (c *command) exportCommand() *cobra.Command {
	e := &exporter{command: c}
	cmd := writingCommand("export VOLUME[:PATH] DEST", "Write a volume to a directory or an archive",
		exportLong,
		`  folio export photos.folio restored
  folio export goroot.folio:src/io io
  folio export photos.folio photos.tar.gz
  folio export photos.folio - | zstd > photos.tar.zst`,
		between(2, 2, "VOLUME[:PATH] and DEST"))
	cmd.ValidArgsFunction = completeFirst
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		e.loc, e.dir, e.ctx = location.Parse(args[0]), args[1], cmd.Context()
		return e.run()
	}
	flags := cmd.Flags()
	flags.BoolVarP(&e.force, "force", "f", false, "add to a directory that is not empty, or replace an archive")
	flags.StringVar(&e.format, "format", "", "what DEST becomes: dir, tar, tar.gz, zip or sqlar")
	flags.BoolVarP(&e.quiet, "quiet", "q", false, "show neither progress nor summary")
	flags.BoolVar(&e.noOwner, "no-owner", false, "as root: do not give files the owners they had; in an archive, they belong to you")
	return cmd
}

func (e *exporter) run() error {
	if err := location.MayName(e.dir, "folio cp -r copies within a volume and between volumes"); err != nil {
		return err
	}
	format, err := e.archiveFormat()
	if err != nil {
		return err
	}
	start := time.Now()
	err = e.loc.View(e.ctx, func(rx *folio.Rx) error {
		e.rx = rx
		info, err := rx.Stat(e.loc.Path)
		if err != nil {
			return e.loc.Failure(e.loc.Path, err)
		}
		if !info.IsDir() {
			return e.loc.Failure(e.loc.Path, failure.ErrNotDir)
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
		fmt.Fprintf(e.Stdout, "%s: %s\n", e.Name(e.dir), treecopy.Summary(e.stats, time.Since(start)))
	}
	return nil
}

// into exports to DIR, and empties it again after an error if it was new or empty.
func (e *exporter) into() error {
	err := os.Mkdir(e.dir, 0o777)
	made := err == nil
	if err != nil && !errors.Is(err, fs.ErrExist) {
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
		e.undo(root, made)
	}
	return err
}

func (e *exporter) checkEmpty(root *os.Root) (empty bool, err error) {
	f, err := root.Open(".")
	if err != nil {
		return false, failure.At(e.dir, err)
	}
	defer f.Close()
	names, _ := f.Readdirnames(1)
	if len(names) > 0 && !e.force {
		return false, failure.At(e.dir, failure.ErrNotEmpty)
	}
	return len(names) == 0, nil
}

// undo removes all files that were written.
func (e *exporter) undo(root *os.Root, made bool) {
	f, err := root.Open(".")
	if err != nil {
		return
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	for _, name := range names {
		_ = root.RemoveAll(name)
	}
	if made {
		_ = os.Remove(e.dir)
	}
}

func (e *exporter) write(root *os.Root, empty bool) (err error) {
	p := e.NewProgress("exporting", e.quiet)
	defer p.Done()
	src := &treecopy.Volume{Loc: e.loc, Rx: e.rx, Follow: true, Links: true}
	o := &target.Options{Replace: e.force, Owner: os.Geteuid() == 0 && !e.noOwner}
	x := &treecopy.Disk{Dir: e.dir, Top: ".", Attr: treecopy.WholeAttr, Root: empty}
	e.stats, err = treecopy.WriteOut(e.ctx, &e.Streams, src, root, o, x, p)
	return err
}
