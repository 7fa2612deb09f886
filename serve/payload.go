package serve

import (
	"bytes"
	"io"
	"io/fs"
	"net/http"
	"path"

	"github.com/foliofs/folio"
)

// smallBody is how many bytes of an upload are kept in memory, and written in the same transaction.
const smallBody = 64 << 10

// A payload is the body of a request on its way into a file.
type payload struct {
	*change
	data []byte
	temp string // the temporary file that holds the data instead; "" if there is none
}

// receive reads the body: into memory, or into a temporary file if it is large.
func (b *payload) receive() error {
	buf, release := b.s.buffers.get(b.r.ContentLength)
	defer release()
	n, err := readFull(b.r.Body, buf)
	if err != nil && err != io.EOF {
		return err
	}
	if n < len(buf) && n <= smallBody {
		b.data = bytes.Clone(buf[:n])
		return nil
	}
	if b.temp, err = b.p.newTemporary(b.r.Context()); err != nil {
		return err
	}
	if err := b.p.fill(b.temp, buf, n, b.r.Body); err != nil {
		b.p.discard(b.temp)
		return err
	}
	return nil
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

// beforeBody refuses an upload before its content is read.
func (b *payload) beforeBody() error {
	if err := b.p.mustChange(); err != nil {
		return err
	}
	if left, limited := b.p.share.left(); limited && b.r.ContentLength > left {
		return errShareFull
	} else if limited {
		b.r.Body = http.MaxBytesReader(b.w, b.r.Body, left)
	}
	if err := b.limitBody(); err != nil {
		return err
	}
	if b.p.vol.remote && b.r.ContentLength >= 0 && b.r.ContentLength <= smallBody && b.r.Header.Get("Expect") == "" {
		return nil // the transaction looks at the file, and the body is here as soon as another answer would be
	}
	return b.p.viewAt(b.r.Context(), false, func(rx *folio.Rx) error {
		_, _, err := b.target(rx)
		return err
	})
}

// limitBody refuses a body that is larger than one upload may be.
func (c *change) limitBody() error {
	most := c.s.options.MaxBody
	if most <= 0 {
		return nil
	}
	if c.r.ContentLength > most {
		return &http.MaxBytesError{Limit: most}
	}
	c.r.Body = http.MaxBytesReader(c.w, c.r.Body, most)
	return nil
}

// target looks at the file that an upload is for, and checks all that can be said before it. info
// is nil if there is no such file.
func (b *payload) target(in lookuper) (real string, info fs.FileInfo, err error) {
	real, info, err = b.p.lookup(in, b.p.name, true, rightUpload)
	if err != nil {
		return "", nil, missingParent(err)
	}
	switch {
	case info == nil:
		if err := checkName(path.Base(real)); err != nil {
			return "", nil, err
		}
		if err := b.p.parentExists(in, real); err != nil {
			return "", nil, err
		}
	case info.IsDir():
		return "", nil, folio.ErrIsDirectory
	case !info.Mode().IsRegular():
		return "", nil, folio.ErrNotRegular
	default:
		if err := b.p.access.check(b.p.shown(real), rightWrite); err != nil {
			return "", nil, err
		}
	}
	if err := b.mustBeFree(in, real, info == nil); err != nil {
		return "", nil, err
	}
	return real, info, b.conditions(info)
}
