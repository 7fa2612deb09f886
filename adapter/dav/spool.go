package dav

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// maxMemory is how much of an upload is kept in memory.
var maxMemory = 1 << 20 // a test sets it

// A spool keeps the bytes that are written to it. If they are many, most are in a temporary file.
type spool struct {
	memory bytes.Buffer
	file   *os.File
}

func (s *spool) Write(p []byte) (int, error) {
	if s.file == nil && s.memory.Len()+len(p) > maxMemory {
		f, err := os.CreateTemp("", "folio-upload-*")
		if err != nil {
			return 0, err
		}
		s.file = f
	}
	if s.file != nil {
		return s.file.Write(p)
	}
	return s.memory.Write(p)
}

// small returns all that was written if it is in memory.
func (s *spool) small() ([]byte, bool) { return s.memory.Bytes(), s.file == nil }

// WriteTo writes all that was written.
func (s *spool) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(s.memory.Bytes())
	if err != nil || s.file == nil {
		return int64(n), err
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return int64(n), err
	}
	m, err := io.Copy(w, onlyReader{s.file})
	return int64(n) + m, err
}

// An onlyReader hides the other methods of a file: a *os.File would rather ask the system to copy
// than use the large pieces of w.
type onlyReader struct{ io.Reader }

func (s *spool) Close() error {
	if s.file == nil {
		return nil
	}
	return errors.Join(s.file.Close(), os.Remove(s.file.Name()))
}
