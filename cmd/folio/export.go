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
	"github.com/foliofs/folio/cmd/folio/internal/target"
)

// An exporter writes a directory of a volume to disk.
type exporter struct {
	*command
	force, quiet, noOwner bool

	loc      location
	dir      string
	rx       *folio.Rx
	ctx      context.Context
	tree     *target.Tree
	progress *progress
	first    map[uint64]string // files with several names, by the path they got first; directories with theirs
	stats    folio.BuildStats
}

const exportLong = `Write a volume, or a directory of it, to DIR, which is made if it does not exist. What is in PATH comes to lie in DIR.

Modes, times in nanoseconds, symbolic links, hard links, holes and extended attributes come back as they were; owners
and devices only for root, and others lose setuid and setgid on files that were not theirs. Whatever names and
links the volume holds, nothing is written outside of DIR.

A DIR that is not empty is refused, or with --force added to: files in the way are replaced, directories are kept. If
something goes wrong, what was written into a new or empty DIR is removed.`

func (c *command) exportCommand() *cobra.Command {
	e := &exporter{command: c}
	cmd := &cobra.Command{
		Annotations: map[string]string{cleansUp: "yes"},
		Use:         "export VOLUME[:PATH] DIR",
		Short:       "Write a volume to a directory on disk",
		Long:        exportLong,
		Example: `  folio export photos.folio restored
  folio export goroot.folio:src/io io`,
		Args: between(2, 2, "VOLUME[:PATH] and DIR"),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveFilterDirs
			}
			return completeLocation(cmd, args, word)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			e.loc, e.dir, e.ctx = locate(args[0]), args[1], cmd.Context()
			return e.run()
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&e.force, "force", "f", false, "add to DIR even if it is not empty")
	flags.BoolVarP(&e.quiet, "quiet", "q", false, "show neither progress nor summary")
	flags.BoolVar(&e.noOwner, "no-owner", false, "as root: do not give files the owners they had")
	return cmd
}

var (
	errNotEmpty = errors.New("is not empty")
	errNotDir   = errors.New("is not a directory")
)

func (e *exporter) run() error {
	start := time.Now()
	err := e.loc.view(e.ctx, func(rx *folio.Rx) error {
		e.rx = rx
		info, err := rx.Stat(e.loc.path)
		if err != nil {
			return e.loc.failure(e.loc.path, err)
		}
		if !info.IsDir() {
			return e.loc.failure(e.loc.path, errNotDir)
		}
		return e.into(info)
	})
	if err != nil {
		return err
	}
	if !e.quiet {
		fmt.Fprintf(e.stdout, "%s: %s\n", e.name(e.dir), summary(e.stats, time.Since(start)))
	}
	return nil
}

// into exports to DIR, and empties it again after an error if it was new or empty.
func (e *exporter) into(info fs.FileInfo) (err error) {
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
	if err = e.write(root, info, empty); err != nil && empty {
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

func (e *exporter) write(root *os.Root, info fs.FileInfo, empty bool) error {
	o := &target.Options{Replace: e.force, Owner: os.Geteuid() == 0 && !e.noOwner, Warn: e.warn}
	tree, err := target.New(root, o)
	if err != nil {
		return failure(e.dir, err)
	}
	defer tree.Close()
	e.tree, e.first = tree, make(map[uint64]string)
	e.progress = e.newProgress("exporting", e.quiet)
	defer e.progress.done()
	if e.progress.shown() {
		u := &du{command: e.command, loc: e.loc, rx: e.rx, counted: make(map[uint64]bool), apparent: true, silent: true}
		if total, err := u.total(); err == nil {
			e.progress.total.Store(total.Bytes)
		}
	}
	if err := e.directory(e.loc.path, ".", info); err != nil {
		return e.failure(err)
	}
	var top *target.Attr
	if empty {
		if top, err = e.attr(e.loc.path, info); err != nil {
			return err
		}
	}
	return e.failure(tree.Finish(top))
}

// failure names the file on disk in an error of writing it.
func (e *exporter) failure(err error) error {
	if ctxErr := e.ctx.Err(); ctxErr != nil {
		return context.Cause(e.ctx)
	}
	if pe, ok := err.(*fs.PathError); ok && pe.Op == target.Op {
		return &fs.PathError{Path: filepath.Join(e.dir, filepath.FromSlash(pe.Path)), Err: pe.Err}
	}
	return err
}

func (e *exporter) warn(name, what string) {
	fmt.Fprintf(e.stderr, "folio: warning: %s: %s that this system or user cannot make, left out\n", escape(filepath.Join(e.dir, name)), what)
}

// directory writes what is in a directory of the volume. to is its path in the tree.
func (e *exporter) directory(from, to string, info fs.FileInfo) error {
	ino := uint64(info.Sys().(*folio.Node).Ino)
	if _, ok := e.first[ino]; ok {
		return e.loc.failure(from, errCycle)
	}
	e.first[ino] = to
	list, err := e.rx.ReadDir(from)
	if err != nil {
		return e.loc.failure(from, err)
	}
	for _, d := range list {
		if err := e.ctx.Err(); err != nil {
			return err
		}
		if err := e.entry(from, to, d); err != nil {
			return err
		}
	}
	return nil
}

func (e *exporter) entry(dir, to string, d fs.DirEntry) error {
	from, name := path.Join(dir, d.Name()), d.Name()
	if path.Base(from) != name {
		return e.loc.failure(dir+"/"+name, target.ErrName)
	}
	info, err := d.Info()
	if err == nil && info.Mode().Type() != d.Type() {
		err = folio.ErrDamaged
	}
	if err != nil {
		return e.loc.failure(from, err)
	}
	attr, err := e.attr(from, info)
	if err != nil {
		return err
	}
	to = path.Join(to, name)
	node := info.Sys().(*folio.Node)
	if !info.IsDir() && node.Nlink > 1 {
		if old, ok := e.first[uint64(node.Ino)]; ok {
			e.stats.Links++
			return e.tree.Link(old, name)
		}
		e.first[uint64(node.Ino)] = to
	}
	return e.make(from, to, name, info, attr)
}

func (e *exporter) make(from, to, name string, info fs.FileInfo, attr *target.Attr) error {
	switch info.Mode().Type() {
	case 0:
		return e.file(from, name, attr)
	case fs.ModeDir:
		if err := e.tree.Enter(name, attr); err != nil {
			return err
		}
		e.stats.Dirs++
		if err := e.directory(from, to, info); err != nil {
			return err
		}
		return e.tree.Leave()
	case fs.ModeSymlink:
		old, err := e.rx.Readlink(from)
		if err != nil {
			return e.loc.failure(from, err)
		}
		e.stats.Symlinks++
		return e.tree.Symlink(name, old, attr)
	}
	e.stats.Others++
	return e.tree.Special(name, attr)
}

func (e *exporter) file(from, name string, attr *target.Attr) error {
	f, err := e.rx.Open(from)
	if err != nil {
		return e.loc.failure(from, err)
	}
	defer f.Close()
	err = e.tree.File(name, attr, countedReaderAt{f, e.progress})
	if pe, ok := err.(*fs.PathError); err != nil && (!ok || pe.Op != target.Op) {
		return e.loc.failure(from, err) // of reading it
	}
	e.stats.Files++
	e.stats.Bytes += attr.Size
	e.progress.addFile()
	return err
}

func (e *exporter) attr(from string, info fs.FileInfo) (*target.Attr, error) {
	n := info.Sys().(*folio.Node)
	attr := &target.Attr{
		Mode: info.Mode(), UID: n.UID, GID: n.GID, Rdev: n.Rdev, Size: n.Size, Holes: n.Holes > 0,
		Mtime: time.Unix(0, n.Mtime), Atime: time.Unix(0, n.Atime),
	}
	var err error
	if info.Mode().IsRegular() || info.IsDir() {
		attr.Xattrs, err = e.rx.Xattrs(from)
	}
	return attr, e.loc.failure(from, err)
}
