package tree

import (
	"bytes"
	"io"

	"github.com/foliofs/folio"
)

// An Adder is a *folio.Builder or a *folio.Tx.
type Adder interface {
	Add(h *folio.Header, content io.Reader) error
	AddBytes(h *folio.Header, content []byte) error
}

// AddTo adds an entry that is not a hard link to a volume, with the header h.
func (e *Entry) AddTo(a Adder, h *folio.Header) error {
	if e.Content != nil {
		return a.Add(h, e.Content)
	}
	return a.AddBytes(h, e.Data)
}

// Reader returns the content of a regular file.
func (e *Entry) Reader() io.Reader {
	if e.Content != nil {
		return e.Content
	}
	return bytes.NewReader(e.Data)
}

// A Meter is a content that counts the bytes that are read from R.
type Meter struct {
	R     io.Reader
	Count func(bytes int64)
	Err   error // of R, except for an io.EOF of Read
}

func (m *Meter) Read(p []byte) (int, error) {
	n, err := m.R.Read(p)
	if err != nil && err != io.EOF {
		m.Err = err
	}
	m.Count(int64(n))
	return n, err
}

// SkipHole implements folio.SparseReader, if R does. The bytes that it skips count as read.
func (m *Meter) SkipHole(unit int64) (int64, error) {
	s, ok := m.R.(folio.SparseReader)
	if !ok {
		return 0, nil
	}
	n, err := s.SkipHole(unit)
	if err != nil {
		m.Err = err
	}
	m.Count(n)
	return n, err
}
