package volume

import (
	"context"
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
	o.Dir, o.From = dir, src.Loc.Tree()
	o.Warn = func(name, what string) { x.WarnLeftOut(name, what+" that this system or user cannot make") }
	var mu sync.Mutex // warnings come from several goroutines
	o.Refused = func(name, attr string, err error) {
		mu.Lock()
		defer mu.Unlock()
		x.Refused++
		x.WarnRefused(name, attr, err)
	}
	before := o.Before
	o.Before = func(e *tree.Entry, to string) (bool, error) {
		if filepath.Base(to) == filepath.Base(src.Loc.Volume) && location.SameFile(to, src.Loc.Volume) {
			return false, failure.At(to, failure.ErrSourceVolume)
		}
		if before == nil {
			return false, nil
		}
		return before(e, to)
	}
	w, err := disk.NewWriter(root, o)
	if err != nil {
		return folio.BuildStats{}, failure.At(dir, err)
	}
	defer w.Close()
	t := &tree.Copy{Ctx: x.Ctx, To: w, Progress: x.Progress}
	err = t.Run(src)
	return t.Stats, err
}
