package overlay

import (
	"context"
	"errors"
	"io/fs"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
)

// An Overlay is an overlay with its base and the volume that keeps its changes.
type Overlay struct {
	*folio.Overlay
	Base *Base
	Path string // of the volume, as the command line has it
	kept *folio.Volume
}

// Close closes the overlay, the volume and the base.
func (o *Overlay) Close() error {
	return errors.Join(o.Overlay.Close(), o.kept.Close(), o.Base.Close())
}

// Open opens the overlay whose changes a volume keeps. baseName is the base, "" for the one that
// the volume tells. With create the volume is made if there is none.
func Open(volume, baseName string, create bool) (*Overlay, error) {
	vol, known, err := OpenKept(volume, create)
	if err != nil {
		return nil, err
	}
	o := &Overlay{kept: vol, Path: location.Parse(volume).Volume}
	if o.Base, err = baseOf(volume, baseName, known); err != nil {
		return nil, errors.Join(err, vol.Close())
	}
	if known == "" {
		err = vol.SetXattr(".", Attribute, []byte(o.Base.Full))
	}
	if err == nil {
		o.Overlay, err = folio.NewOverlay(o.Base.FS, vol, nil)
	}
	if err != nil {
		return nil, errors.Join(failure.At(volume, err), vol.Close(), o.Base.Close())
	}
	return o, nil
}

// OpenKept opens a volume that keeps changes, and returns the base that it tells.
func OpenKept(volume string, create bool) (*folio.Volume, string, error) {
	loc, err := location.WholeVolume(volume)
	if err != nil {
		return nil, "", err
	}
	name := loc.Volume
	vol, err := loc.OpenVolume(&folio.Options{Create: create})
	if errors.Is(err, fs.ErrNotExist) && !create {
		err = failure.ErrNoVolume
	}
	if err != nil {
		return nil, "", failure.At(name, err)
	}
	known, err := BaseIn(vol)
	if err == nil && known == "" {
		var list []fs.DirEntry
		switch list, err = vol.ReadDir("."); {
		case err == nil && len(list) > 0:
			err = failure.Hint(failure.At(name, errNotEmpty), "name a new volume")
		case err == nil && !create:
			err = failure.Hint(failure.At(name, ErrNone), "folio overlay run makes some")
		}
	}
	if err != nil {
		return nil, "", errors.Join(failure.At(name, err), vol.Close())
	}
	return vol, known, nil
}

// baseOf opens the base of a volume.
func baseOf(volume, name, known string) (*Base, error) {
	if name == "" {
		name = known
	}
	if name == "" {
		return nil, failure.Hint(failure.At(volume, ErrNone), "--base names the base of a new one")
	}
	b, err := OpenBase(name)
	if err == nil && b.HasIn(volume) {
		err = errors.Join(failure.Hint(failure.At(volume, ErrInBase), "name a volume outside of "+name), b.Close())
	}
	return b, err
}

// View calls fn with a view of a volume or, if there is a base, of the overlay whose changes the
// volume keeps, or kept when a snapshot was made. The command line must name the base, because a
// volume from elsewhere could name any.
func View(ctx context.Context, loc location.Location, base string, fn func(rx *folio.Rx) error) (err error) {
	if base == "" {
		return loc.View(ctx, fn)
	}
	kept, err := loc.Open()
	if err != nil {
		return err
	}
	defer kept.Close()
	known, err := BaseIn(kept.Volume)
	if err == nil && known == "" {
		err = failure.Hint(ErrNone, "leave out --base")
	}
	if err != nil {
		return failure.At(loc.Tree(), err)
	}
	b, err := baseOf(loc.Volume, base, known)
	if err != nil {
		return err
	}
	defer b.Close()
	o, err := folio.NewOverlay(b.FS, kept.Volume, nil)
	if err != nil {
		return failure.At(loc.Tree(), err)
	}
	defer o.Close()
	return o.View(ctx, fn)
}

// BaseIn returns the base that a volume, or a view of one, records. It is "" if there is
// none: then the volume keeps no changes of an overlay.
func BaseIn(v interface {
	Xattrs(name string) (map[string][]byte, error)
},
) (string, error) {
	attrs, err := v.Xattrs(".")
	return string(attrs[Attribute]), err
}
