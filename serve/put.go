package serve

import (
	"bytes"
	"io"
	"io/fs"
	"net/http"
	"path"
	"time"

	"github.com/foliofs/folio"
)

// smallBody is how many bytes of an upload are kept in memory, and written in the same transaction.
const smallBody = 64 << 10

// put answers PUT: the file gets the content of the request as a whole, or stays as it is.
func (c *call) put(p *place) error {
	if c.r.Header.Get("Content-Range") != "" {
		return errContentRange
	}
	if p.dir || p.name == "." {
		return folio.ErrIsDirectory
	}
	if err := c.beforeBody(p); err != nil {
		return err
	}
	data, temp, err := c.receive(p)
	if err != nil {
		return err
	}
	var info fs.FileInfo
	created := false
	err = c.update(p, func(tx *folio.Tx) (err error) {
		created, info, err = c.store(p, tx, data, temp)
		return err
	})
	if err != nil {
		p.discard(temp)
		return err
	}
	c.w.Header().Set("ETag", p.etag(info))
	c.created(created)
	return nil
}

func (c *call) created(created bool) {
	status := http.StatusNoContent
	if created {
		status = http.StatusCreated
	}
	c.w.Header().Set("Cache-Control", "no-store")
	c.w.WriteHeader(status)
}

// beforeBody refuses an upload before its content is read.
func (c *call) beforeBody(p *place) error {
	if err := c.mustChange(p); err != nil {
		return err
	}
	if most := c.s.options.MaxBody; most > 0 {
		if c.r.ContentLength > most {
			return &http.MaxBytesError{Limit: most}
		}
		c.r.Body = http.MaxBytesReader(c.w, c.r.Body, most)
	}
	return p.view(c.r.Context(), func(rx *folio.Rx) error {
		_, _, err := c.target(p, rx)
		return err
	})
}

// target looks at the file that an upload is for, and checks all that can be said before it. info
// is nil if there is no such file.
func (c *call) target(p *place, in lookuper) (real string, info fs.FileInfo, err error) {
	real, info, err = p.lookup(in, p.name, true, rightUpload)
	if err != nil {
		return "", nil, missingParent(err)
	}
	switch {
	case info == nil:
		if err := checkName(path.Base(real)); err != nil {
			return "", nil, err
		}
		if err := p.parentExists(in, real); err != nil {
			return "", nil, err
		}
	case info.IsDir():
		return "", nil, folio.ErrIsDirectory
	case !info.Mode().IsRegular():
		return "", nil, folio.ErrNotRegular
	default:
		if err := p.access.check(p.shown(real), rightWrite); err != nil {
			return "", nil, err
		}
	}
	if err := c.mustBeFree(p, p.name); err != nil {
		return "", nil, err
	}
	return real, info, c.conditions(p, info)
}

// store gives a file its new content, which is data or that of a temporary file.
func (c *call) store(p *place, tx *folio.Tx, data []byte, temp string) (created bool, info fs.FileInfo, err error) {
	real, old, err := c.target(p, tx)
	if err != nil {
		return false, nil, err
	}
	size := int64(len(data))
	if temp != "" {
		if info, err = tx.Lstat(temp); err != nil {
			return false, nil, err
		}
		size = info.Size()
	}
	if err := p.account(tx, size); err != nil {
		return false, nil, err
	}
	if temp == "" {
		err = tx.WriteFile(real, data, 0o644)
	} else {
		err = adopt(tx, temp, real, old)
	}
	if err != nil {
		return false, nil, err
	}
	info, err = tx.Lstat(real)
	return old == nil, info, err
}

// adopt moves a temporary file to its place. It gets the attributes of the file that it replaces.
func adopt(tx *folio.Tx, temp, real string, old fs.FileInfo) error {
	mode := fs.FileMode(0o644)
	if old != nil {
		mode = old.Mode().Perm()
		if err := tx.Lchown(temp, int(node(old).UID), int(node(old).GID)); err != nil {
			return err
		}
		if err := copyXattrs(tx, real, temp); err != nil {
			return err
		}
	}
	if err := tx.Chmod(temp, mode); err != nil {
		return err
	}
	now := time.Now()
	if err := tx.Chtimes(temp, now, now); err != nil {
		return err
	}
	return tx.Rename(temp, real)
}

func copyXattrs(tx *folio.Tx, from, to string) error {
	xattrs, err := tx.Xattrs(from)
	if err != nil {
		return err
	}
	for name, value := range xattrs {
		if err := tx.SetXattr(to, name, value); err != nil {
			return err
		}
	}
	return nil
}

// receive reads the body of a request: into memory, or into a temporary file if it is large.
func (c *call) receive(p *place) (data []byte, temp string, err error) {
	buf, release := c.s.buffers.get(c.r.ContentLength)
	defer release()
	n, err := readFull(c.r.Body, buf)
	if err != nil && err != io.EOF {
		return nil, "", err
	}
	if n < len(buf) && n <= smallBody {
		return bytes.Clone(buf[:n]), "", nil
	}
	temp, err = p.newTemporary()
	if err != nil {
		return nil, "", err
	}
	if err := p.fill(temp, buf, n, c.r.Body); err != nil {
		p.discard(temp)
		return nil, "", err
	}
	return nil, temp, nil
}

// fill writes the first n bytes of buf, and then the rest of a body, to a temporary file.
func (p *place) fill(temp string, buf []byte, n int, body io.Reader) error {
	f, err := p.vol.OpenFile(temp, writeOnly, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	for {
		if _, err := f.Write(buf[:n]); err != nil {
			return err
		}
		if n, err = readFull(body, buf); err == io.EOF && n == 0 {
			return nil
		}
		if err != nil && err != io.EOF {
			return err
		}
	}
}

// readFull reads until p is full or the reader ends. Unlike io.ReadFull it does not hide an
// io.ErrUnexpectedEOF of the reader, by which package http says that a body was cut off.
func readFull(r io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, err = r.Read(p[n:])
		n += m
	}
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}
