package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/mountpoint"
)

// baseAttribute is the extended attribute of the root of a volume that keeps the changes of an
// overlay. It has the base, by its absolute path. Programs in the overlay do not see it.
const baseAttribute = "trusted.overlay.folio.base"

var (
	errNoOverlay = errors.New("keeps no changes of an overlay")
	errNotEmpty  = errors.New("has files, and keeps no changes of an overlay")
	errInBase    = errors.New("lies in the base")
)

// An overlayBase is the base of an overlay: a directory of the system, a volume, a snapshot, or a
// directory in one of these.
type overlayBase struct {
	name   string // as the command line has it
	full   string // the same with an absolute path
	dir    string // of the system, resolved; "" if the base is in a volume
	fsys   fs.FS
	commit func(ctx context.Context, o *folio.Overlay) error
	closes []func() error // in their order
}

func (b *overlayBase) close() (err error) {
	for _, closing := range b.closes {
		err = errors.Join(err, closing())
	}
	return err
}

// openBase opens what the command line names as a base.
func openBase(name string) (*overlayBase, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return openBaseDir(name)
	}
	loc := location.Parse(name)
	v, err := loc.Open()
	if err != nil {
		return nil, err
	}
	b := &overlayBase{name: name, full: name, closes: []func() error{v.Close}}
	if abs, err := filepath.Abs(loc.Volume); err == nil && !location.OnServer(loc.Volume) {
		full := loc
		full.Volume = abs
		b.full = full.String()
	}
	if loc.Path == "." {
		b.fsys = v.FS()
		b.commit = func(ctx context.Context, o *folio.Overlay) error {
			return v.Update(ctx, func(tx *folio.Tx) error { return folio.CommitOverlay(ctx, o, tx) })
		}
	} else {
		root, err := v.OpenRoot(loc.Path)
		if err != nil {
			return nil, errors.Join(loc.Failure(loc.Path, err), v.Close())
		}
		b.fsys, b.closes = root.FS(), []func() error{root.Close, v.Close}
		b.commit = func(ctx context.Context, o *folio.Overlay) error { return folio.CommitOverlay(ctx, o, root) }
	}
	if loc.Snapshot != "" {
		b.commit = func(context.Context, *folio.Overlay) error { return failure.At(name, failure.ErrSnapshot) }
	}
	return b, nil
}

func openBaseDir(name string) (*overlayBase, error) {
	dir, err := mountpoint.Resolve(name)
	if err != nil {
		return nil, failure.At(name, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, failure.At(name, err)
	}
	return &overlayBase{
		name: name, full: dir, dir: dir, fsys: baseDir{root}.fs(), closes: []func() error{root.Close},
		commit: func(ctx context.Context, o *folio.Overlay) error { return folio.CommitOverlay(ctx, o, baseDir{root}) },
	}, nil
}

// hasIn reports whether a file of the system lies in the base.
func (b *overlayBase) hasIn(file string) bool {
	if b.dir == "" {
		return false
	}
	real, err := mountpoint.Resolve(file)
	return err == nil && (real == b.dir || strings.HasPrefix(real, strings.TrimSuffix(b.dir, "/")+"/"))
}

// An openOverlay is an overlay with its base and the volume that keeps its changes.
type openOverlay struct {
	*folio.Overlay
	base   *overlayBase
	vol    *folio.Volume
	volume string
}

func (o *openOverlay) close() error {
	return errors.Join(o.Overlay.Close(), o.vol.Close(), o.base.close())
}

// openOverlayOf opens the overlay whose changes a volume keeps. baseName is the base, "" for that
// which the volume tells. With create the volume is made if there is none.
func openOverlayOf(volume, baseName string, create bool) (*openOverlay, error) {
	vol, known, err := openKept(volume, create)
	if err != nil {
		return nil, err
	}
	o := &openOverlay{vol: vol, volume: volume}
	if o.base, err = baseOf(volume, baseName, known); err != nil {
		return nil, errors.Join(err, vol.Close())
	}
	if known == "" {
		err = vol.SetXattr(".", baseAttribute, []byte(o.base.full))
	}
	if err == nil {
		o.Overlay, err = folio.NewOverlay(o.base.fsys, vol, nil)
	}
	if err != nil {
		return nil, errors.Join(failure.At(volume, err), vol.Close(), o.base.close())
	}
	return o, nil
}

// openKept opens a volume that keeps changes, and returns the base that it tells.
func openKept(volume string, create bool) (*folio.Volume, string, error) {
	name, err := location.WholeVolume(volume)
	if err != nil {
		return nil, "", err
	}
	vol, err := location.OpenVolume(name, &folio.Options{Create: create})
	if errors.Is(err, fs.ErrNotExist) && !create {
		err = failure.ErrNoVolume
	}
	if err != nil {
		return nil, "", failure.At(name, err)
	}
	attrs, err := vol.Xattrs(".")
	known := string(attrs[baseAttribute])
	if err == nil && known == "" {
		var list []fs.DirEntry
		switch list, err = vol.ReadDir("."); {
		case err == nil && len(list) > 0:
			err = failure.Hint(failure.At(name, errNotEmpty), "name a new volume")
		case err == nil && !create:
			err = failure.Hint(failure.At(name, errNoOverlay), "folio overlay run makes some")
		}
	}
	if err != nil {
		return nil, "", errors.Join(failure.At(name, err), vol.Close())
	}
	return vol, known, nil
}

// baseOf opens the base of a volume.
func baseOf(volume, name, known string) (*overlayBase, error) {
	if name == "" {
		name = known
	}
	if name == "" {
		return nil, failure.Hint(failure.At(volume, errNoOverlay), "--base names the base of a new one")
	}
	b, err := openBase(name)
	if err == nil && b.hasIn(volume) {
		err = errors.Join(failure.Hint(failure.At(volume, errInBase), "name a volume outside of "+name), b.close())
	}
	return b, err
}
