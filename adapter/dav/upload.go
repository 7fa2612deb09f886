package dav

import (
	"errors"
	"io"
	"io/fs"
	"path"

	"golang.org/x/net/webdav"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/posix"
)

// An upload is a new content for a file. It takes the place of the old content as a whole, once it
// is complete. It is complete when ReadFrom returns without an error. Otherwise it is complete when
// a method needs the content, or closes it. It belongs to one goroutine, as a request does.
type upload struct {
	resource
	perm    fs.FileMode
	content spool
	stored  bool  // it is complete
	failed  error // it will never be
}

var _ interface {
	webdav.File
	webdav.DeadPropsHolder
	io.ReaderFrom
} = (*upload)(nil)

// newUpload begins an upload unless there is no place for it.
func newUpload(r resource, perm fs.FileMode) (webdav.File, error) {
	u := &upload{resource: r, perm: perm}
	vol := r.fs.vol.WithContext(r.ctx)
	info, err := vol.Stat(r.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		_, err = vol.Stat(path.Dir(r.path))
	case err == nil && info.IsDir():
		err = u.fail(folio.ErrIsDirectory)
	case err == nil:
		replaces(r.ctx)
	}
	if err != nil {
		return nil, urlError(err)
	}
	return u, nil
}

func (u *upload) fail(err error) error { return &fs.PathError{Op: "upload", Path: u.path, Err: err} }

// ReadFrom takes all that r gives, and stores it if r ends well.
func (u *upload) ReadFrom(r io.Reader) (int64, error) {
	n, err := io.Copy(&u.content, r)
	if err == nil {
		err = u.store()
	}
	u.failed = note(u.ctx, err)
	return n, err
}

func (u *upload) Write(p []byte) (n int, err error) {
	if u.failed == nil {
		n, u.failed = u.content.Write(p)
	}
	return n, u.failed
}

// store gives the file its new content.
func (u *upload) store() error {
	if u.stored || u.failed != nil {
		return u.failed
	}
	u.failed = u.fs.vol.Update(u.ctx, u.write)
	u.stored = u.failed == nil
	return note(u.ctx, u.failed)
}

// write replaces the file in a transaction, which also looks at the locks: another client may have
// locked the file while the content arrived.
func (u *upload) write(tx *folio.Tx) error {
	s, ok := u.ctx.Value(storingKey{}).(*storing)
	if ok {
		if err := s.confirm(tx); err != nil {
			return err
		}
	}
	old, missing := tx.Stat(u.path)
	if err := u.writeContent(tx); err != nil || !ok || s.mtime.IsZero() {
		return err
	}
	at := s.mtime
	if missing == nil {
		at = After(old, at)
	}
	return tx.Chtimes(u.path, at, at)
}

// writeContent writes to the inode that is there, so that its links, mode and extended attributes
// stay.
func (u *upload) writeContent(tx *folio.Tx) error {
	if data, small := u.content.small(); small {
		return tx.WriteFile(u.path, data, u.perm)
	}
	f, err := tx.OpenFile(u.path, posix.WriteOnly|posix.Create|posix.Truncate, u.perm)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = u.content.WriteTo(f)
	return err
}

// Stat describes the file with its new content.
func (u *upload) Stat() (fs.FileInfo, error) {
	if err := u.store(); err != nil {
		return nil, err
	}
	return u.fs.stat(u.fs.vol, u.path)
}

// Patch sets and removes properties of the file with its new content.
func (u *upload) Patch(patches []webdav.Proppatch) ([]webdav.Propstat, error) {
	if err := u.store(); err != nil {
		return nil, err
	}
	return u.resource.Patch(patches)
}

// Close ends the upload. A failed upload has changed nothing.
func (u *upload) Close() error { return errors.Join(u.store(), u.content.Close()) }

var errUpload = errors.New("an upload can only be written to")

func (u *upload) Read([]byte) (int, error)           { return 0, u.fail(errUpload) }
func (u *upload) Seek(int64, int) (int64, error)     { return 0, u.fail(errUpload) }
func (u *upload) Readdir(int) ([]fs.FileInfo, error) { return nil, u.fail(errUpload) }
