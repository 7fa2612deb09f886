// Package web serves the files of a volume by HTTP, as http.FileServerFS does with vol.FS(), and
// two things better:
//
//   - Each file has an ETag. http.FileServerFS goes by times in seconds, and with those a browser
//     keeps a file that an older one has replaced.
//   - A file of up to 1 MiB is served as it was at one moment, whatever writes to it meanwhile. A
//     larger file is read while it is sent. Replace it by Rename, which leaves the old content to
//     requests that have it open.
package web

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/adapter/internal/etag"
)

// FileServer returns a handler that serves the files of a volume. It is safe for concurrent use, as
// the volume is. The caller must close the volume, after the last request.
func FileServer(vol *folio.Volume) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.FileServerFS(requestFS{r.Context(), vol, w.Header()}).ServeHTTP(w, r)
	})
}

// A requestFS is the volume for one request. The last regular file that package http opens is the
// answer.
type requestFS struct {
	ctx    context.Context
	vol    *folio.Volume
	header http.Header // of the answer
}

// maxMemory is how large a file may be to be read into memory at once.
const maxMemory = 1 << 20

func (f requestFS) Open(name string) (fs.File, error) {
	opened, err := f.open(name)
	for _, impossible := range []error{fs.ErrInvalid, folio.ErrNotDirectory, folio.ErrNameTooLong, folio.ErrEscapes, folio.ErrTooManyLinks} {
		if errors.Is(err, impossible) { // for package http, an impossible name is a missing file, and any other error a mistake of the server
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
	}
	return opened, err
}

// open reads a small file with its attributes in one view, so that the ETag belongs to the content
// even if another program writes meanwhile.
func (f requestFS) open(name string) (opened fs.File, err error) {
	err = f.vol.View(f.ctx, func(rx *folio.Rx) error {
		info, err := rx.Stat(name)
		switch {
		case err != nil || !info.Mode().IsRegular():
			return err
		case info.Size() > maxMemory:
			f.header.Set("ETag", etag.Of(info))
			return nil
		}
		data, err := rx.ReadFile(name)
		if err == nil {
			f.header.Set("ETag", etag.Of(info))
			opened = memoryFile{bytes.NewReader(data), info}
		}
		return err
	})
	if opened != nil || err != nil {
		return opened, err
	}
	return f.vol.WithContext(f.ctx).FS().Open(name)
}

// A memoryFile is a regular file as it was at one moment.
type memoryFile struct {
	io.ReadSeeker
	info fs.FileInfo
}

func (f memoryFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f memoryFile) Close() error               { return nil }

// ETag returns the ETag of a file of a volume, as FileServer and package dav send it. It is strong:
// another content of the file has another one, unless the time of modification was set back.
func ETag(info fs.FileInfo) string { return etag.Of(info) }
