package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/overlay"
	"github.com/foliofs/folio/cmd/folio/internal/terminal"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/disk"
	"github.com/foliofs/folio/cmd/folio/internal/tree/volume"
)

// An Export writes a directory of a volume to disk.
type Export struct {
	*terminal.Streams
	Force, Quiet, NoOwner bool
	Format                string // "" lets the name of DEST decide
	Left                  int64  // attributes that the disk did not take, when Run has returned
	Base                  string // of the overlay whose changes the volume keeps; "" exports the volume as it is

	loc   location.Location
	as    string // the name of the volume in warnings and errors; "" for its own
	dir   string
	rx    *folio.Rx
	ctx   context.Context
	stats folio.BuildStats
}

// Run writes a directory of a volume to dest.
func (e *Export) Run(ctx context.Context, loc location.Location, dest string) error {
	e.ctx, e.loc, e.dir = ctx, loc, dest
	if err := location.MayName(e.dir, "folio cp -r copies within a volume and between volumes"); err != nil {
		return err
	}
	format, err := e.archiveFormat()
	if err != nil {
		return err
	}
	start := time.Now()
	err = overlay.View(ctx, loc, e.Base, func(rx *folio.Rx) error {
		e.rx = rx
		info, err := rx.Stat(e.loc.Path)
		if err != nil {
			return e.loc.Failure(e.loc.Path, err)
		}
		if !info.IsDir() {
			return e.loc.Failure(e.loc.Path, failure.ErrNotDir)
		}
		if err := e.warnKept(); err != nil {
			return err
		}
		if format != 0 {
			return e.archive(format)
		}
		return e.into()
	})
	if err != nil {
		return err
	}
	if !e.Quiet && e.dir != "-" {
		fmt.Fprintf(e.Stdout, "%s: %s\n", e.Name(e.dir), tree.Summary(e.stats, time.Since(start)))
	}
	return nil
}

// into exports to DIR, and empties it again after an error if it was new or empty.
func (e *Export) into() error {
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

// checkEmpty refuses a directory with files in it unless --force is set. If it is empty, a failed
// export removes all that it wrote.
func (e *Export) checkEmpty(root *os.Root) (empty bool, err error) {
	f, err := root.Open(".")
	if err != nil {
		return false, failure.At(e.dir, err)
	}
	defer f.Close()
	names, _ := f.Readdirnames(1)
	if len(names) > 0 && !e.Force {
		return false, failure.At(e.dir, failure.ErrNotEmpty)
	}
	return len(names) == 0, nil
}

// undo removes all files that were written.
func (e *Export) undo(root *os.Root, made bool) {
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

// write exports the tree. A directory that was empty gets the attributes of the tree's root, any
// other keeps its own.
func (e *Export) write(root *os.Root, empty bool) (err error) {
	p := e.NewProgress("exporting", e.Quiet)
	defer p.Done()
	src := &volume.Source{Loc: e.loc, Rx: e.rx, Follow: true, Links: true}
	x := &volume.Export{Streams: e.Streams, Ctx: e.ctx, Progress: p}
	e.stats, err = x.Run(src, root, e.dir, &disk.WriteOptions{
		Top: ".", SetTop: empty, Replace: e.Force, Owner: os.Geteuid() == 0 && !e.NoOwner,
	})
	e.Left = x.Refused
	return err
}

// A keptError says that a volume keeps only the changes of an overlay.
type keptError struct{ base string }

func (e *keptError) Error() string { return "keeps only what an overlay has changed in " + e.base }

// warnKept warns if the volume keeps the changes of an overlay and the base is not named: files may
// have parts of their contents only.
func (e *Export) warnKept() error {
	if e.Base != "" {
		return nil
	}
	base, err := overlay.BaseIn(e.rx)
	if err == nil && base != "" {
		e.Warn(failure.Rehint(failure.At(e.loc.Tree(), &keptError{base}), "--base TREE exports what it shows"))
	}
	return err
}
