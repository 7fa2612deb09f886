package compare

import (
	"context"
	"os"
	"path/filepath"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/disk"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
)

// A place is where an argument of the command line says that a tree lies. Each kind of tree has a
// type of place, which placeOf knows.
type place interface {
	// volume returns the path of the volume's file, "" for a place on disk.
	volume() string
	// view calls fn with the tree. other is the other place, and beside its tree if that is open
	// already, else nil.
	view(ctx context.Context, other place, beside Tree, fn func(Tree) error) error
}

// placeOf reads an argument: a volume, VOLUME:PATH, or else a file on disk.
func placeOf(arg string) place {
	loc := location.Parse(arg)
	if location.OnServer(arg) || location.IsVolume(arg) || !location.Exists(arg) && loc.Volume != arg {
		return volumePlace{arg, loc}
	}
	return diskPlace(arg)
}

// View calls fn with the trees that two arguments name. Of two trees in one volume it sees the same
// moment.
func View(ctx context.Context, first, second string, fn func(a, b Tree) error) error {
	p, q := placeOf(first), placeOf(second)
	return p.view(ctx, q, nil, func(a Tree) error {
		return q.view(ctx, p, a, func(b Tree) error { return fn(a, b) })
	})
}

// A volumePlace is VOLUME[@SNAPSHOT][:PATH].
type volumePlace struct {
	name string
	loc  location.Location
}

func (p volumePlace) volume() string { return p.loc.Volume }

func (p volumePlace) view(ctx context.Context, other place, beside Tree, fn func(Tree) error) error {
	origin := Origin{p.loc.Volume, p.loc.Snapshot}
	if t, ok := beside.(*volumeTree); ok && location.SameFile(p.volume(), other.volume()) {
		origin.Volume = t.origin.Volume
		if origin == t.origin {
			return fn(&volumeTree{p.name, p.loc, t.rx, origin})
		}
	}
	return p.loc.View(ctx, func(rx *folio.Rx) error { return fn(&volumeTree{p.name, p.loc, rx, origin}) })
}

// A diskPlace is the path of a file on disk.
type diskPlace string

func (p diskPlace) volume() string { return "" }

func (p diskPlace) view(_ context.Context, other place, _ Tree, fn func(Tree) error) error {
	t, err := p.open(other.volume())
	if err != nil {
		return failure.At(string(p), err)
	}
	b := t.Browse()
	defer b.Close()
	return fn(&diskTree{string(p), b})
}

// open opens the tree. A volume that it is compared with is no part of it.
func (p diskPlace) open(volume string) (*disk.Tree, error) {
	name := string(p)
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	o := new(tree.Options)
	if volume != "" {
		if o.Skip, err = location.SkipVolume(volume); err != nil {
			return nil, err
		}
	}
	if info.IsDir() {
		return disk.OpenDir(name, o)
	}
	if name, err = filepath.EvalSymlinks(name); err != nil {
		return nil, err
	}
	return disk.OpenFile(name, o)
}
