package dav

import (
	"bytes"
	"io"

	"github.com/foliofs/folio"
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
