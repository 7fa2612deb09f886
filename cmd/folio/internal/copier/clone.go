package copier

import (
	"errors"
	"io/fs"

	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/volume"
)

// shares reports whether copies should share their content with the original.
func (o *Options) shares() bool { return o.Reflink == ReflinkAuto || o.Reflink == ReflinkAlways }

// cloneTree copies all that a source has at once, where cp -a would make the same of it: a single
// source that is not there yet. done reports whether it did.
func (c *Copy) cloneTree(in *copyIn, tree *volume.Source) (done bool, err error) {
	if !c.shares() || !c.Archive || c.Verbose || tree.Follow || in.inside || len(c.Sources) > 1 {
		return false, nil
	}
	if _, err := in.tx.Lstat(in.top); !errors.Is(err, fs.ErrNotExist) {
		return false, nil // the usual way reports an error, if there is one
	}
	if info, err := in.tx.Lstat(tree.Loc.Path); err != nil || !info.IsDir() {
		return false, nil
	}
	err = in.tx.Clone(tree.Loc.Path, in.top)
	switch {
	case errors.Is(err, fs.ErrInvalid): // the usual way names the directory that is copied into itself
		return false, nil
	case errors.Is(err, errors.ErrUnsupported) && c.Reflink == ReflinkAuto:
		return false, nil
	}
	return err == nil, in.loc.Failure(in.top, err)
}

// share lets a file share the content of an entry, if both are in the same volume. It reports
// whether it did.
func (d *copyIn) share(e *tree.Entry, name string, there fs.FileInfo) (done bool, err error) {
	if !d.how.shares() || d.within == nil || !e.Mode.IsRegular() {
		return false, nil
	}
	if there != nil && location.Links(there) > 1 && !d.how.Archive { // all its names get the content
		if d.how.Reflink == ReflinkAlways {
			return false, errSeveralNames
		}
		return false, nil
	}
	if err := d.tx.CloneFile(d.within.At(e.Name), name); err != nil {
		if errors.Is(err, errors.ErrUnsupported) && d.how.Reflink == ReflinkAuto {
			return false, nil
		}
		return false, err
	}
	if there != nil {
		return true, nil
	}
	return true, d.plain(e, name)
}

var errSeveralNames = errors.New("--reflink=always replaces no file with several names")

// plain gives a new file the mode that a copy gets, and no extended attributes.
func (d *copyIn) plain(e *tree.Entry, name string) error {
	attrs, err := d.tx.Xattrs(name)
	for attr := range attrs {
		if err == nil {
			err = d.tx.RemoveXattr(name, attr)
		}
	}
	if err != nil {
		return err
	}
	return d.tx.Chmod(name, d.newMode(e))
}
