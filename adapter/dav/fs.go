package dav

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"

	"golang.org/x/net/webdav"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/adapter/internal/etag"
	"github.com/foliofs/folio/internal/inoset"
	"github.com/foliofs/folio/internal/mediatype"
)

// A FileSystem is a volume as golang.org/x/net/webdav sees it, for a webdav.Handler of one's own:
// NewHandler makes a better one. It is safe for concurrent use.
type FileSystem struct {
	vol     *folio.Volume
	dir     string   // of the volume; "" or "." for all of it
	handler *Handler // nil if there is none
}

var _ webdav.FileSystem = (*FileSystem)(nil)

// New returns a volume as a webdav.FileSystem. The caller must close the volume, after
// the last request.
func New(vol *folio.Volume) *FileSystem { return &FileSystem{vol: vol} }

// A tree is the volume, or a transaction in it, that a FileSystem changes.
type tree interface {
	Lookuper
	Mkdir(name string, perm fs.FileMode) error
	Open(name string) (*folio.File, error)
	OpenFile(name string, flag int, perm fs.FileMode) (*folio.File, error)
	RemoveAll(name string) error
	Rename(oldname, newname string) error
	Stat(name string) (fs.FileInfo, error)
	Xattrs(name string) (map[string][]byte, error)
}

// A txKey is the key of the transaction in the context of a request that has one.
type txKey struct{}

// A transaction belongs to one request.
type transaction struct {
	tx     *folio.Tx
	listed inoset.Set // directories that were copied
	failed error      // why it must not be committed, if package webdav has no status for it
}

// tx returns the transaction of a request, or nil.
func tx(ctx context.Context) *folio.Tx {
	if t, ok := ctx.Value(txKey{}).(*transaction); ok {
		return t.tx
	}
	return nil
}

func (f *FileSystem) tree(ctx context.Context) tree {
	if t := tx(ctx); t != nil {
		return t
	}
	if s, ok := ctx.Value(snapshotKey{}).(snapshot); ok {
		return s
	}
	return f.vol
}

// volumePath returns the path in the volume of a path in a URL.
func volumePath(name string) string {
	if p := path.Clean("/" + name)[1:]; p != "" {
		return p
	}
	return "."
}

// urlError makes the error for a name that no file can have, such as one below a file, that for a
// name of nothing, which it is for HTTP.
func urlError(err error) error {
	path, ok := errors.AsType[*fs.PathError](err)
	if !ok {
		return err
	}
	for _, impossible := range []error{folio.ErrNotDirectory, folio.ErrNameTooLong, folio.ErrEscapes, folio.ErrTooManyLinks, fs.ErrInvalid} {
		if errors.Is(err, impossible) {
			return &fs.PathError{Op: path.Op, Path: path.Path, Err: fs.ErrNotExist}
		}
	}
	return err
}

// umask is taken from the permissions of the files that clients make. Package webdav asks for all
// permissions.
const umask fs.FileMode = 0o022

// Mkdir makes a directory.
func (f *FileSystem) Mkdir(ctx context.Context, name string, perm fs.FileMode) error {
	t := f.tree(ctx)
	p, err := f.path(ctx, t, name, false, true)
	if err != nil {
		return urlError(err)
	}
	return urlError(note(ctx, t.Mkdir(p, perm.Perm()&^umask)))
}

// RemoveAll removes a file, or a directory with all that is in it, as one change.
func (f *FileSystem) RemoveAll(ctx context.Context, name string) error {
	s, ok := scopeOf(ctx).(Remover)
	if t := tx(ctx); t != nil && ok {
		return note(ctx, f.removeBy(ctx, s, t, name))
	} else if ok {
		return note(ctx, f.vol.Update(context.WithoutCancel(ctx), func(tx *folio.Tx) error { return f.removeBy(ctx, s, tx, name) }))
	}
	t := f.tree(ctx)
	p, err := f.path(ctx, t, name, false, true)
	if err != nil {
		return err
	}
	return note(ctx, t.RemoveAll(p))
}

// removeBy lets a Remover remove a file.
func (f *FileSystem) removeBy(ctx context.Context, s Remover, tx *folio.Tx, name string) error {
	p, err := f.path(ctx, tx, name, false, true)
	if err != nil {
		return err
	}
	return s.Remove(tx, p)
}

// Rename moves a file or a directory. A file with the new name is replaced.
func (f *FileSystem) Rename(ctx context.Context, oldName, newName string) error {
	t := f.tree(ctx)
	from, err := f.path(ctx, t, oldName, false, true)
	if err != nil {
		return err
	}
	to, err := f.path(ctx, t, newName, false, true)
	if err != nil {
		return err
	}
	return note(ctx, t.Rename(from, to))
}

// Stat describes a file.
func (f *FileSystem) Stat(ctx context.Context, name string) (fs.FileInfo, error) {
	t := f.tree(ctx)
	p, err := f.path(ctx, t, name, true, false)
	if err != nil {
		return nil, urlError(err)
	}
	return f.stat(t, p)
}

// stat describes the file at a path in the volume.
func (f *FileSystem) stat(t tree, p string) (fs.FileInfo, error) {
	i, err := t.Stat(p)
	if err != nil {
		return nil, urlError(err)
	}
	return info{i}, nil
}

// An info is an fs.FileInfo that knows the ETag of the file.
type info struct{ fs.FileInfo }

var _ interface {
	webdav.ETager
	webdav.ContentTyper
} = info{}

func (i info) ETag(context.Context) (string, error) { return etag.Of(i), nil }

// ContentType returns the type that the name tells. Package webdav looks into other files.
func (i info) ContentType(context.Context) (string, error) {
	if t := mediatype.Of(i.Name()); t != "" {
		return t, nil
	}
	return "", webdav.ErrNotImplemented
}

// A file is an open file or directory of a volume. It has no more methods than a webdav.File needs.
// If it had all methods of a *folio.File, io.Copy would use them, and an upload could not tell a
// file that ended from a file that failed.
type file struct {
	webdav.File
	resource
}

func (f *file) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	return n, note(f.ctx, err)
}

func (f *file) Stat() (fs.FileInfo, error) {
	i, err := f.File.Stat()
	if err != nil {
		return nil, err
	}
	return info{i}, nil
}

// Readdir lists a directory. In a request that copies it, a directory that comes a second time is
// an error: in a damaged volume, where directories can have many names, the walk would never end.
func (f *file) Readdir(count int) ([]fs.FileInfo, error) {
	t, ok := f.ctx.Value(txKey{}).(*transaction)
	if count > 0 || !ok {
		list, err := f.File.Readdir(count)
		return shown(f.ctx, f.fs.tree(f.ctx), f.name, list), err
	}
	list, err := f.copied(t)
	if err != nil {
		t.failed = err
	}
	return shown(f.ctx, t.tx, f.name, list), err
}

// copied lists a directory that is copied.
func (f *file) copied(t *transaction) (list []fs.FileInfo, err error) {
	i, err := f.File.Stat()
	if err != nil {
		return nil, err
	}
	if !t.listed.Add(i.Sys().(*folio.Node).Ino) {
		return nil, &fs.PathError{Op: "readdir", Path: f.path, Err: folio.ErrDamaged}
	}
	for {
		some, err := f.File.Readdir(1000)
		if list = append(list, some...); len(list) > maxListing {
			return nil, errListing
		}
		if err == io.EOF {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
