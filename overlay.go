package folio

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"

	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/overlay"
)

// ErrBaseChanged says that a file of the base of an [Overlay] is another one than that of which a
// part was copied. It matches ESTALE.
var ErrBaseChanged = overlay.ErrBaseChanged

// OverlayOptions say how an overlay works. The zero value, and nil, are good defaults.
type OverlayOptions struct {
	// Whole copies all of a file's content when any of it changes. Then the volume that keeps the
	// changes shows the content of each file without the base. Without it, a write copies the
	// chunks of 64 KiB that it writes a part of.
	Whole bool
	// BaseChanges says that the base may change while the overlay is open. The overlay looks at it
	// at each call then, and keeps nothing in caches.
	BaseChanges bool
	// CacheSize is that of [Options].
	CacheSize int64
}

// An Overlay is a file system that shows the tree of a base, and keeps in a volume what was changed
// in it. It has all methods of a [Volume], with the same promises: each call changes it as a whole
// or not at all. The base is never written to.
//
// The package's documentation of internal/store/overlay says how the changes lie in the volume. A
// file that is written to takes room for the chunks that were written, and a file whose attributes
// change, that is moved or removed, takes no room for content.
//
// Calls about the volume as a database, such as Compact, Backup and Snapshot, fail with
// errors.ErrUnsupported: they are for the volume that keeps the changes.
//
// If the base changes all the same, files that were not changed in the overlay may be seen as they
// were or as they are. A file whose content lies in both fails with [ErrBaseChanged].
type Overlay struct {
	*Volume
	base  fs.FS
	upper *Volume
	over  *overlay.Store
}

// NewOverlay returns an overlay over base: a volume or a part of it ([Volume.FS]), a directory of
// the system ([os.Root.FS]; os.DirFS follows symbolic links that something puts in the way out of
// it), or any other fs.FS. The base needs fs.ReadLinkFS to have symbolic links, and Stat of its
// files must tell the time of modification. If base is a volume, extended attributes are seen.
//
// The volume vol keeps the changes. One that has changes already is an overlay that goes on. While
// the overlay is open, nothing else should write to vol. Close leaves vol open.
//
// A symbolic link of the base that leads out of it is seen, and leads nowhere: ErrEscapes. Two hard
// links in the base are two files.
func NewOverlay(base fs.FS, vol *Volume, o *OverlayOptions) (*Overlay, error) {
	if o == nil {
		o = new(OverlayOptions)
	}
	s := overlay.New(base, vol.store, &overlay.Options{
		Describe: describeBase, Whole: o.Whole, BaseChanges: o.BaseChanges, KeepUpper: true,
	})
	if err := checkBase(base, vol); err != nil {
		return nil, err
	}
	v, err := newVolume(s.Observed(), cmp.Or(o.CacheSize, defaultCacheSize), &updates{timeout: vol.updates.timeout, upper: vol.updates})
	if err != nil {
		return nil, vol.volumeError("overlay", err)
	}
	return &Overlay{Volume: v, base: base, upper: vol, over: s}, nil
}

// checkBase refuses a base that is no directory, or that lies in the volume that keeps the changes.
func checkBase(base fs.FS, vol *Volume) error {
	info, err := fs.Stat(base, ".")
	if err == nil && !info.IsDir() {
		err = ErrNotDirectory
	}
	if f, ok := base.(ioFS); ok && f.fs == vol {
		err = fmt.Errorf("%w: a volume cannot keep the changes of itself", posix.ErrInvalid)
	}
	return pathError("overlay", ".", err)
}

// describeBase sets what a FileInfo tells besides what package fs knows.
func describeBase(info fs.FileInfo, n *store.Node) {
	if from, ok := info.Sys().(*Node); ok {
		n.UID, n.GID, n.Atime, n.Ctime, n.Holes = from.UID, from.GID, from.Atime, from.Ctime, from.Holes
		n.Mtime = from.Mtime
		if n.IsDevice() {
			n.Rdev = from.Rdev
		}
		return
	}
	if s, ok := posix.StatOf(info); ok {
		n.UID, n.GID, n.Atime, n.Ctime = s.UID, s.GID, s.Atime, s.Ctime
		if n.IsDevice() {
			n.Rdev = s.Rdev
		}
	}
}

// Discard removes all changes: the overlay shows the base again. Files that are open stay as they
// are until they are closed. It happens as a whole or not at all.
func (o *Overlay) Discard(ctx context.Context) error {
	if err := o.updates.wait(ctx); err != nil {
		return o.volumeError("discard", err)
	}
	err := o.over.Exclusive(ctx, func() error {
		return o.upper.Update(ctx, func(tx *Tx) error {
			list, err := tx.ReadDir(".")
			for _, e := range list {
				err = cmp.Or(err, tx.RemoveAll(e.Name()))
			}
			return err
		})
	})
	return o.volumeError("discard", err)
}
