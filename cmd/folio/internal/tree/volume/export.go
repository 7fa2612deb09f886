package volume

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/terminal"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/disk"
)

// An Export copies trees of volumes to directories on disk.
type Export struct {
	*terminal.Streams
	Ctx      context.Context
	Progress *terminal.Progress
	Refused  int64 // extended attributes that the disk did not take
}

// Run copies a tree to the directory dir, which root is. Errors name files on disk, or in the
// volume.
func (x *Export) Run(src *Source, root *os.Root, dir string, o *disk.WriteOptions) (folio.BuildStats, error) {
	o.Warn = func(name, what string) {
		x.WarnLeftOut(filepath.Join(dir, name), what+" that this system or user cannot make")
	}
	var mu sync.Mutex // warnings come from several goroutines
	o.Refused = func(name, attr string, err error) {
		mu.Lock()
		defer mu.Unlock()
		x.Refused++
		x.WarnRefused(filepath.Join(dir, filepath.FromSlash(name)), attr, err)
	}
	before := o.Before
	o.Before = func(e *tree.Entry, to string) (bool, error) {
		at := filepath.Join(dir, filepath.FromSlash(to))
		if filepath.Base(at) == filepath.Base(src.Loc.Volume) && location.SameFile(at, src.Loc.Volume) {
			return false, failure.At(at, failure.ErrSourceVolume)
		}
		if before == nil {
			return false, nil
		}
		return before(e, at)
	}
	o.From = src.Loc.Tree()
	w, err := disk.NewWriter(root, o)
	if err != nil {
		return folio.BuildStats{}, failure.At(dir, err)
	}
	defer w.Close()
	t := &tree.Copy{Ctx: x.Ctx, To: w, Progress: x.Progress}
	if err = t.Run(src); err != nil && x.Ctx.Err() != nil {
		err = context.Cause(x.Ctx)
	}
	return t.Stats, exportFailure(src.Loc, dir, err)
}

// exportFailure names the file below dir in an error of writing to disk, and the file below loc in
// an error of reading the volume.
func exportFailure(loc location.Location, dir string, err error) error {
	if e, ok := err.(*tree.SinkError); ok {
		err = e.Unwrap()
	}
	if pe, ok := err.(*fs.PathError); ok && pe.Op == disk.Op {
		return &fs.PathError{Path: filepath.Join(dir, filepath.FromSlash(pe.Path)), Err: pe.Err}
	}
	if ee, ok := errors.AsType[*tree.EntryError](err); ok {
		return loc.EntryFailure(ee)
	}
	return err
}
