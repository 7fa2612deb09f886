// Package overlay opens the overlays whose changes a volume keeps, over a base that the command
// line or the volume names.
package overlay

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
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/disk"
	"github.com/foliofs/folio/internal/commit"
	"github.com/foliofs/folio/internal/private"
)

// Attribute is the extended attribute of the root of a volume that keeps the changes of an
// overlay. Its value is the absolute path of the base. Programs in the overlay do not see it.
const Attribute = "trusted.overlay.folio.base"

// Errors of volumes.
var (
	ErrNone     = errors.New("keeps no changes of an overlay")
	ErrInBase   = errors.New("lies in the base")
	errNotEmpty = errors.New("has files, and keeps no changes of an overlay")
)

// A Base is the base of an overlay: a directory of the system, a volume, a snapshot, or a
// directory in one of these.
type Base struct {
	Name   string // as the command line has it
	Full   string // the same with an absolute path
	Dir    string // of the system, resolved; "" if the base is in a volume
	FS     fs.FS
	Commit func(ctx context.Context, o *folio.Overlay) error // makes the changes of an overlay in the base
	closes []func() error                                    // in their order
}

// Close closes the base, and the volume or directory that it is in.
func (b *Base) Close() (err error) {
	for _, closing := range b.closes {
		err = errors.Join(err, closing())
	}
	return err
}

// OpenBase opens the base that the command line names.
func OpenBase(name string) (*Base, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return openDir(name)
	}
	loc := location.Parse(name)
	v, err := loc.Open()
	if err != nil {
		return nil, err
	}
	b := &Base{Name: name, Full: name, closes: []func() error{v.Close}}
	if location.OnServer(loc.Volume) {
		b.Name, b.Full = loc.String(), loc.String() // without the password
	} else if abs, err := filepath.Abs(loc.Volume); err == nil {
		full := loc
		full.Volume = abs
		b.Full = full.String()
	}
	if loc.Path == "." {
		b.FS = v.FS()
	} else {
		root, err := v.OpenRoot(loc.Path)
		if err != nil {
			return nil, errors.Join(loc.Failure(loc.Path, err), v.Close())
		}
		b.FS, b.closes = root.FS(), []func() error{root.Close, v.Close}
	}
	b.Commit = func(ctx context.Context, o *folio.Overlay) error {
		return v.Update(ctx, func(tx *folio.Tx) error { return o.CommitTo(ctx, tx, loc.Path) })
	}
	if loc.Snapshot != "" {
		b.Commit = func(context.Context, *folio.Overlay) error { return failure.At(name, failure.ErrSnapshot) }
	}
	return b, nil
}

// openDir opens a directory on disk as a base. It resolves the name once, so that a later change of
// a symbolic link on the way does not lead a commit elsewhere.
func openDir(name string) (*Base, error) {
	dir, err := mountpoint.Resolve(name)
	if err != nil {
		return nil, failure.At(name, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, failure.At(name, err)
	}
	return &Base{
		Name: name, Full: dir, Dir: dir, FS: baseDir{root}.fs(), closes: []func() error{root.Close},
		Commit: func(ctx context.Context, o *folio.Overlay) error {
			return o.CommitBy(private.Key{}, ctx, func(from commit.Source) error { return commit.Run(ctx, from, baseDir{root}) })
		},
	}, nil
}

// HasIn reports whether a file of the system is in the base.
func (b *Base) HasIn(file string) bool {
	if b.Dir == "" {
		return false
	}
	real, err := mountpoint.Resolve(file)
	return err == nil && (real == b.Dir || strings.HasPrefix(real, strings.TrimSuffix(b.Dir, "/")+"/"))
}

// A baseDir is a directory of the system that is the base of an overlay: an os.Root, with the
// extended attributes user.* of its files and directories.
type baseDir struct{ *os.Root }

// A baseDirFS is a baseDir as a file system.
type baseDirFS struct {
	rootFS
	dir baseDir
}

// A rootFS is what os.Root.FS returns.
type rootFS interface {
	fs.ReadDirFS
	fs.StatFS
	fs.ReadLinkFS
}

func (d baseDir) fs() fs.FS { return baseDirFS{d.FS().(rootFS), d} }

// Xattrs returns the extended attributes of a file.
func (f baseDirFS) Xattrs(name string) (map[string][]byte, error) { return f.dir.Xattrs(name) }

// with calls fn with a file, unless its type cannot have extended attributes.
func (d baseDir) with(name string, fn func(f *os.File) error) error {
	info, err := d.Lstat(name)
	if err != nil || !info.Mode().IsRegular() && !info.IsDir() {
		return err
	}
	f, err := d.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(fn(f), f.Close())
}

// Xattrs returns the extended attributes of a file that a volume takes from disk. The ones of a
// file that cannot be opened are not known: it can be seen nevertheless.
func (d baseDir) Xattrs(name string) (attrs map[string][]byte, err error) {
	err = d.with(name, func(f *os.File) error {
		attrs, err = disk.Xattrs(f)
		return err
	})
	if errors.Is(err, fs.ErrPermission) {
		err = nil
	}
	return attrs, err
}

// SetXattr sets an extended attribute, if a volume gives it back to a disk.
func (d baseDir) SetXattr(name, attr string, value []byte) error {
	if !tree.KeepsXattr(attr) {
		return nil
	}
	return d.with(name, func(f *os.File) error { return disk.SetXattr(f, attr, value) })
}

// RemoveXattr removes an extended attribute.
func (d baseDir) RemoveXattr(name, attr string) error {
	return d.with(name, func(f *os.File) error { return disk.RemoveXattr(f, attr) })
}
