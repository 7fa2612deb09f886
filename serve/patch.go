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
func (c *call) patch(p *place) error {
	if c.r.Header.Get("X-Update-Range") != "append" {
		return errUpdateRange
	}
	if err := c.beforeBody(p); err != nil {
		return err
	}
	data, temp, err := c.receive(p)
	if err != nil {
		return err
	}
	defer p.discard(temp)
	var info fs.FileInfo
	err = c.update(p, func(tx *folio.Tx) (err error) {
		info, err = c.extend(p, tx, data, temp)
		return err
	})
	if err != nil {
		return err
	}
	c.w.Header().Set("ETag", p.etag(info))
	c.created(false)
	return nil
}

// extend adds data, or the content of a temporary file, to the end of a file.
func (c *call) extend(p *place, tx *folio.Tx, data []byte, temp string) (fs.FileInfo, error) {
	real, old, err := c.target(p, tx)
	switch {
	case err != nil:
		return nil, err
	case old == nil:
		return nil, fs.ErrNotExist
	}
	var from io.Reader = bytes.NewReader(data)
	if temp != "" {
		f, err := tx.Open(temp)
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
	buf, release := c.s.buffers.get(-1)
	defer release()
	if _, err := io.CopyBuffer(struct{ io.Writer }{f}, struct{ io.Reader }{from}, buf); err != nil {
		return nil, err
	}
	return tx.Lstat(real)
}
