package compare

import (
	"context"
	"os"
	"path/filepath"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/disk"
)

// An operand is the tree or file that an argument of the command line names: a volume, VOLUME:PATH,
// or else a file on disk.
type operand struct {
	arg      string
	inVolume bool
	loc      location.Location // if inVolume
}

func parse(arg string) operand {
	loc := location.Parse(arg)
	inVolume := location.OnServer(arg) || location.IsVolume(arg) || !location.Exists(arg) && loc.Volume != arg
	return operand{arg, inVolume, loc}
}

// View calls fn with the trees that two arguments name. Of two trees in one volume it sees the same
// moment.
func View(ctx context.Context, first, second string, fn func(a, b Tree) error) error {
	p, q := parse(first), parse(second)
	return p.view(ctx, q, nil, func(a Tree) error {
		return q.view(ctx, p, a, func(b Tree) error { return fn(a, b) })
	})
}

// view calls fn with the tree. otherTree is the tree of the other operand, or nil if it is not open
// yet.
func (p operand) view(ctx context.Context, other operand, otherTree Tree, fn func(Tree) error) error {
	if !p.inVolume {
		return p.viewDisk(other, fn)
	}
	origin := Origin{p.loc.Volume, p.loc.Snapshot}
	if t, ok := otherTree.(*volumeTree); ok && location.SameFile(p.loc.Volume, other.loc.Volume) {
		origin.Volume = t.origin.Volume
		if origin == t.origin {
			return fn(&volumeTree{p.arg, p.loc, t.rx, origin})
		}
	}
	return p.loc.View(ctx, func(rx *folio.Rx) error { return fn(&volumeTree{p.arg, p.loc, rx, origin}) })
}

func (p operand) viewDisk(other operand, fn func(Tree) error) error {
	t, err := p.open(other)
	if err != nil {
		return failure.At(p.arg, err)
	}
	b := t.Browse()
	defer b.Close()
	return fn(&diskTree{p.arg, b})
}

// open opens a tree on disk. A volume that it is compared with is no part of it.
func (p operand) open(other operand) (*disk.Tree, error) {
	info, err := os.Stat(p.arg)
	if err != nil {
		return nil, err
	}
	o := new(tree.Options)
	if other.inVolume {
		if o.Skip, err = location.SkipVolume(other.loc.Volume, false); err != nil {
			return nil, err
		}
	}
	if info.IsDir() {
		return disk.OpenDir(p.arg, o)
	}
	name, err := filepath.EvalSymlinks(p.arg)
	if err != nil {
		return nil, err
	}
	return disk.OpenFile(name, o)
}
