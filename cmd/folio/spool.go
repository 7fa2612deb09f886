package main

import (
	"context"
	"io"
	"os"

	"github.com/foliofs/folio/cmd/folio/internal/source"
)

// A spool is the whole of a stream, read into a temporary file before the volume that it goes to is
// locked. The process that writes the stream may take its time. A spool is a source with one file.
type spool struct {
	file        *os.File
	start, size int64  // where the content is
	given       bool   // the file is the caller's: standard input
	temp        string // the name of the file, where the system does not let it go while it is open
}

// spool reads the stream that open opens to its end, or until the command is interrupted, even if
// the stream is stuck in a read then.
func (c *copier) spool(open func() (io.ReadCloser, error)) (source.Source, error) {
	file, err := os.CreateTemp("", "folio-")
	if err != nil {
		return nil, err
	}
	s := &spool{file: file}
	if os.Remove(file.Name()) != nil {
		s.temp = file.Name()
	}
	r := source.Interruptible(c.ctx, open)
	defer r.Close()
	s.size, err = io.Copy(struct{ io.Writer }{file}, &source.Meter{R: r, Count: c.progress.addBytes})
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// spoolInput is spool for standard input. A file that is given as such need not be read before its
// time.
func (c *copier) spoolInput() (source.Source, error) {
	if f, ok := c.stdin.(*os.File); ok {
		info, err := f.Stat()
		start, seekErr := f.Seek(0, io.SeekCurrent)
		if err == nil && seekErr == nil && info.Mode().IsRegular() {
			return &spool{file: f, start: start, size: max(0, info.Size()-start), given: true}, nil
		}
	}
	return c.spool(func() (io.ReadCloser, error) { return io.NopCloser(c.stdin), nil })
}

func (s *spool) OnDisk() bool { return true }

func (s *spool) Size(context.Context) (int64, bool) { return s.size, true }

func (s *spool) Walk(_ context.Context, fn func(*source.Entry) error) error {
	e := &source.Entry{Size: s.size, Content: io.NewSectionReader(s.file, s.start, s.size)}
	e.Name, e.Mode = ".", 0o666
	e.UID, e.GID = uint32(max(0, os.Geteuid())), uint32(max(0, os.Getegid()))
	return fn(e)
}

func (s *spool) Close() error {
	if s.given {
		return nil
	}
	err := s.file.Close()
	if s.temp != "" {
		_ = os.Remove(s.temp)
	}
	return err
}
