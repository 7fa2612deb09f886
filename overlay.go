package folio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"strings"

	"github.com/foliofs/folio/internal/commit"
	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/overlay"
)

// Errors of an [Overlay].
var (
	// ErrBaseChanged says that a file of the base has changed after the overlay copied a part of
	// it. It matches ESTALE.
	ErrBaseChanged = overlay.ErrBaseChanged
	// ErrConflict says that files of the base are not as they were when the overlay changed them.
	ErrConflict = errors.New("the base has changed")
)

// OverlayOptions say how an overlay works. The zero value, and nil, are good defaults.
type OverlayOptions struct {
	// CopyWholeFile copies all of a file's content when any of it changes. Then the volume that
	// keeps the changes shows the content of each file without the base. Without it, a write copies
	// the chunks of 64 KiB that it writes a part of.
	CopyWholeFile bool
	// BaseChanges says that the base may change while the overlay is open. The overlay looks at it
	// at each call then, and keeps nothing in caches.
	BaseChanges bool
	// CacheSize means the same as in [Options].
	CacheSize int64
}

// An Overlay is a file system that shows the tree of a base, and keeps the changes to it in a
// volume. It offers the methods of a [Volume] that read and write files, with the same promises:
// each call changes it as a whole or not at all. The base is never written to. [Overlay.Commit]
// makes the changes in the base, and [Overlay.Discard] removes them.
//
// A file that is written to takes space for the chunks that were written. A file whose attributes
// change, or that is moved or removed, takes no space for content.
//
// Snapshots, copies and all else that concerns a database are methods of the volume that keeps the
// changes.
//
// If the base changes nevertheless, files that were not changed in the overlay may be seen as they
// were or as they are. Reading a file fails with [ErrBaseChanged] if a part of it is in the volume.
type Overlay struct {
	reader
	writer
	vol   *Volume // in the store of the overlay
	upper *Volume // keeps the changes
	store *overlay.Store
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
	switch {
	case base == nil || vol == nil:
		return nil, pathError("overlay", ".", errNil)
	case vol.store == nil:
		return nil, pathError("overlay", ".", fs.ErrClosed)
	}
	s := overlay.New(base, vol.store, &overlay.Options{
		Describe: describeBase, CopyWholeFile: o.CopyWholeFile, BaseChanges: o.BaseChanges, KeepUpper: true,
	})
	if err := checkBase(base, vol); err != nil {
		return nil, err
	}
	v, err := newVolume(s.Observed(), cmp.Or(o.CacheSize, defaultCacheSize), &updates{timeout: vol.updates.timeout, upper: vol.updates})
	if err != nil {
		return nil, vol.volumeError("overlay", err)
	}
	return &Overlay{reader: v.reader, writer: v.writer, vol: v, upper: vol, store: s}, nil
}

// checkBase refuses a base that is no directory, or that is in the volume that keeps the changes.
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

// describeBase sets the fields of a FileInfo that package fs does not know.
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

// Open opens a file for reading, or a directory.
func (o *Overlay) Open(name string) (*File, error) { return o.volume().Open(name) }

// OpenRoot opens a directory as a Root.
func (o *Overlay) OpenRoot(name string) (*Root, error) { return o.volume().OpenRoot(name) }

// View calls fn with a snapshot of the overlay, as [Volume.View] does.
func (o *Overlay) View(ctx context.Context, fn func(rx *Rx) error) error {
	return o.volume().View(ctx, fn)
}

// Update calls fn with a transaction, as [Volume.Update] does.
func (o *Overlay) Update(ctx context.Context, fn func(tx *Tx) error) error {
	return o.volume().Update(ctx, fn)
}

// Sync returns when all changes that were made before survive the loss of power.
func (o *Overlay) Sync(ctx context.Context) error { return o.volume().Sync(ctx) }

// Close closes the overlay as [Volume.Close] does, and leaves the volume that keeps the changes
// open.
func (o *Overlay) Close() error { return o.volume().Close() }

// volume returns the overlay as a volume; one that is closed for the zero value.
func (o *Overlay) volume() *Volume {
	if o.vol == nil {
		return new(Volume)
	}
	return o.vol
}

// Volume returns the overlay as a volume, for packages of this module alone.
func (o *Overlay) Volume(private.Key) *Volume { return o.vol }

// Diff yields the differences between the base and the overlay, in the order of a walk. A directory
// that was removed is one change, and so is one that was moved. For a directory that was made, its
// files are yielded, too. A file that was replaced by one of another type is yielded twice, first
// as removed. Contents are compared: if a file was written to and is the same again, only its time
// of modification has changed. Times of directories do not count.
func (o *Overlay) Diff(ctx context.Context) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		err := o.View(ctx, func(rx *Rx) error {
			for c, err := range o.store.Diff(ctx, rx.rx) {
				if err != nil {
					return err
				}
				if !yield(publicChange(&c), nil) {
					return nil
				}
			}
			return nil
		})
		if err != nil {
			yield(Change{}, o.volume().volumeError("diff", err))
		}
	}
}

// publicChange returns a change as this package tells it.
func publicChange(c *overlay.Change) Change {
	return Change{Kind: ChangeKind(c.Kind), Path: c.Path, OldPath: c.Old, Ino: uint64(c.Ino), Type: fileMode(c.Mode).Type()}
}

var _ = [1]struct{}{}[ChangeAttributes-ChangeKind(overlay.Attributes)] // the kinds have one order

// Discard removes all changes: the overlay shows the base again. Files that are open stay as they
// are until they are closed. It happens as a whole or not at all.
func (o *Overlay) Discard(ctx context.Context) error {
	if err := o.volume().updates.wait(ctx); err != nil {
		return o.volume().volumeError("discard", err)
	}
	err := o.store.Exclusive(ctx, func() error {
		return o.upper.Update(ctx, func(tx *Tx) error {
			list, err := tx.ReadDir(".")
			for _, e := range list {
				err = cmp.Or(err, tx.RemoveAll(e.Name()))
			}
			return err
		})
	})
	return o.volume().volumeError("discard", err)
}

// Commit makes the changes of the overlay in a directory of the system, mostly its base. The
// overlay keeps them: [Overlay.Discard] removes them when they are in the base.
//
// First it looks at each path that has changed. If a file there is not as it was when the overlay
// changed it, by type, permissions, size and time of modification, or if there is one where none
// was, nothing happens, and the error is a [*ConflictError] with all these paths. A directory that
// was removed must have its old time of modification, and in it nothing may be newer than its
// removal. If a change is made already, its path is skipped.
//
// Then it writes all contents to a new directory in dir, whose name begins with ".folio-commit-".
// If that fails, for example because the disk is full, it removes the directory, and nothing else
// has changed. At last it removes files and moves the new ones in place. A crash may leave a part
// of the changes, and Commit can be called again.
//
// A file that was moved is copied and removed. Owners are set if they differ, which needs the
// right to do so. Devices, fifos and sockets fail with errors.ErrUnsupported, and extended
// attributes are not set.
func (o *Overlay) Commit(ctx context.Context, dir *os.Root) error {
	if dir == nil {
		return pathError("commit", ".", errNil)
	}
	return o.CommitBy(private.Key{}, ctx, func(from commit.Source) error { return commit.Run(ctx, from, dir) })
}

// CommitTo makes the changes of the overlay in a directory of another volume, or in all of it if
// dir is ".", as [Overlay.Commit] does, with special files and extended attributes. They happen
// with the transaction, or not at all. An error other than a [*ConflictError] means that the
// transaction must be rolled back.
func (o *Overlay) CommitTo(ctx context.Context, tx *Tx, dir string) error {
	if ctx == nil || tx == nil {
		return pathError("commit", dir, errNil)
	}
	top, err := tx.below(dir)
	if err != nil {
		return err
	}
	return o.CommitBy(private.Key{}, ctx, func(from commit.Source) error { return commit.Run(ctx, from, top) })
}

// CommitBy calls fn, which commits the overlay, for packages of this module alone.
func (o *Overlay) CommitBy(_ private.Key, ctx context.Context, fn func(from commit.Source) error) error {
	err := o.View(ctx, func(rx *Rx) error { return fn(commitSource{rx, o.store}) })
	if e, ok := errors.AsType[*commit.Error](err); ok {
		conflicts := make([]Conflict, len(e.Conflicts))
		for i, c := range e.Conflicts {
			conflicts[i] = Conflict(c)
		}
		return &ConflictError{conflicts}
	}
	return err
}

// A commitSource is a view of an overlay that is committed.
type commitSource struct {
	*Rx
	store *overlay.Store
}

func (s commitSource) Changes(ctx context.Context) iter.Seq2[overlay.Change, error] {
	return func(yield func(overlay.Change, error) bool) {
		for c, err := range s.store.Diff(ctx, s.rx) {
			if !yield(c, s.Rx.reader.fs.volumeError("commit", err)) {
				return
			}
		}
	}
}

func (s commitSource) Node(name string) (store.Node, error) {
	rx, at, err := s.find(s.locate(name), false, store.NeedNode)
	if err != nil {
		return store.Node{}, pathError("statat", name, err)
	}
	n, err := rx.Node(at.ino)
	return n, pathError("statat", name, err)
}

func (s commitSource) WriteTo(name string, w io.Writer) error {
	f, err := s.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteTo(w)
	return err
}

func (s commitSource) Describe(info fs.FileInfo, n *store.Node) { describeBase(info, n) }

// A ConflictError names the files that are not as they were. It matches ErrConflict.
type ConflictError struct {
	Conflicts []Conflict // in the order of the paths
}

// A Conflict is a path at which a change cannot be committed.
type Conflict struct {
	Path string
	What string // for example "was removed"
}

// namedConflicts is how many conflicts an error message names.
const namedConflicts = 5

func (e *ConflictError) Error() string {
	var names []string
	for _, c := range e.Conflicts[:min(len(e.Conflicts), namedConflicts)] {
		names = append(names, c.Path+" "+c.What)
	}
	text := "the base has changed: " + strings.Join(names, ", ")
	if more := len(e.Conflicts) - namedConflicts; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// Is makes errors.Is(err, ErrConflict) true.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// below returns a directory of the transaction as a Root, which ends with it.
func (v *Tx) below(dir string) (*Root, error) {
	rx, at, err := v.find(v.locate(dir), true, store.NeedNode)
	if err != nil {
		return nil, pathError("openat", dir, err)
	}
	n, err := rx.Node(at.ino)
	if err == nil && store.TypeOf(n.Mode) != store.Dir {
		err = ErrNotDirectory
	}
	if err != nil {
		return nil, pathError("openat", dir, err)
	}
	r := &Root{reader: reader{fs: v.Rx.reader.fs, pin: &v.Rx, top: n.Ino}}
	r.writer = writer{from: &r.reader, tx: v}
	return r, nil
}
