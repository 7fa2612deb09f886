package serve

import (
	"bytes"
	"io"
	"io/fs"
	"net/http"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/posix"
)

var errUpdateRange = refuse(http.StatusBadRequest, "PATCH needs the header X-Update-Range: append.")

// patch answers PATCH as dufs has it: with X-Update-Range: append, the body is added to the end of
// the file, all of it or nothing.
func (b *payload) patch() error {
	if b.r.Header.Get("X-Update-Range") != "append" {
		return errUpdateRange
	}
	if err := b.beforeBody(); err != nil {
		return err
	}
	if err := b.receive(); err != nil {
		return err
	}
	defer b.p.discard(b.temp)
	var info fs.FileInfo
	err := b.update(func(tx *folio.Tx) (err error) {
		info, err = b.extend(tx)
		return err
	})
	if err != nil {
		return err
	}
	b.w.Header().Set("ETag", b.p.etag(info))
	b.created(false)
	return nil
}

// extend adds the received bytes to the end of a file.
func (b *payload) extend(tx *folio.Tx) (fs.FileInfo, error) {
	real, old, err := b.target(tx)
	switch {
	case err != nil:
		return nil, err
	case old == nil:
		return nil, fs.ErrNotExist
	}
	var from io.Reader = bytes.NewReader(b.data)
	if b.temp != "" {
		f, err := tx.Open(b.temp)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		from = f
	}
	f, err := tx.OpenFile(real, posix.WriteOnly|posix.Append, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	buf, release := b.s.buffers.get(-1)
	defer release()
	if _, err := io.CopyBuffer(struct{ io.Writer }{f}, struct{ io.Reader }{from}, buf); err != nil {
		return nil, err
	}
	return tx.Lstat(real)
}
