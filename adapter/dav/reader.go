package dav

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"

	"golang.org/x/net/webdav"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/posix"
)

// A reader is a file that is open for reading. A small file is read at once, at the first call that
// reads content. Uploads replace a content in place, and a request that reads piece by piece would
// get a mixture.
type reader struct {
	file
	opened  *folio.File
	content io.ReadSeeker // nil until something is read
}

// load sets content.
func (r *reader) load() error {
	if r.content != nil {
		return nil
	}
	r.content = r.opened
	info, err := r.opened.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > int64(maxMemory) {
		return err
	}
	for size := info.Size(); ; size = 2*size + 1 { // it may have grown meanwhile
		p := make([]byte, size+1)
		n, err := r.opened.ReadAt(p, 0)
		if err == io.EOF {
			r.content = bytes.NewReader(p[:n])
			return nil
		}
		if err != nil || n > maxMemory {
			return err
		}
	}
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.load(); err != nil {
		return 0, err
	}
	return r.content.Read(p)
}

func (r *reader) Seek(offset int64, whence int) (int64, error) {
	if err := r.load(); err != nil {
		return 0, err
	}
	return r.content.Seek(offset, whence)
}

// OpenFile opens a file with flags of package os. The result is a webdav.DeadPropsHolder. If flag
// has os.O_TRUNC, the file is replaced as a whole when that is complete. Directories can be opened
// with os.O_RDWR, for their properties.
func (f *FileSystem) OpenFile(ctx context.Context, name string, flag int, perm fs.FileMode) (webdav.File, error) {
	t := f.tree(ctx)
	p, err := f.path(ctx, t, name, true, flag != 0)
	if err != nil {
		return nil, urlError(err)
	}
	r := resource{ctx: ctx, fs: f, path: p, name: name}
	perm = perm.Perm() &^ umask
	if flag&posix.Truncate != 0 && tx(ctx) == nil {
		return newUpload(r, perm)
	}
	opened, err := t.OpenFile(p, flag, perm)
	if errors.Is(err, folio.ErrIsDirectory) && flag&posix.Create == 0 {
		opened, err = t.Open(p)
	}
	if err != nil {
		return nil, urlError(note(ctx, err))
	}
	if flag == 0 && tx(ctx) == nil {
		return &reader{file: file{opened, r}, opened: opened}, nil
	}
	return &file{opened, r}, nil
}
