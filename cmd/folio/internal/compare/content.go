package compare

import (
	"bytes"
	"errors"
	"io"
)

// contentPart is how much of two contents is compared at once.
const contentPart = 128 << 10

// A contents compares contents by parts. It reuses its buffers.
type contents struct {
	p, q []byte
	seen func(bytes int64)
}

// equal compares two regular files. An error is a *ReadError.
func (c *contents) equal(a, b *File) (bool, error) {
	if a.Size != b.Size {
		return false, nil
	}
	if c.p == nil {
		c.p, c.q = make([]byte, contentPart), make([]byte, contentPart)
	}
	x, err := a.Open()
	if err != nil {
		return false, &ReadError{a, err}
	}
	defer x.Close()
	y, err := b.Open()
	if err != nil {
		return false, &ReadError{b, err}
	}
	defer y.Close()
	for {
		p, err := readPart(x, c.p)
		if err != nil {
			return false, &ReadError{a, err}
		}
		q, err := readPart(y, c.q)
		if err != nil {
			return false, &ReadError{b, err}
		}
		c.seen(int64(len(q)))
		if !bytes.Equal(p, q) {
			return false, nil
		}
		if len(p) < len(c.p) {
			return true, nil
		}
	}
}

// readPart fills p as far as there is something left, and returns what it read.
func readPart(r io.Reader, p []byte) ([]byte, error) {
	n, err := io.ReadFull(r, p)
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return p[:n], err
}
