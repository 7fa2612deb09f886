package main

import (
	"context"
	"io"
	"os"

	"github.com/foliofs/folio/cmd/folio/internal/source"
)

// A spool is the whole of a stream, read before the volume that it goes to is locked: whoever writes the stream may take
// all the time. It is a source with one file.
type spool struct {
	data  []byte   // of a short one
	file  *os.File // of a long one, from offset start on
	start int64
	size  int64
	given bool   // the file is the caller's: standard input
	temp  string // the name of the file, where the system does not let it go while it is open
}

const (
	spoolMemory = 16 << 20 // more than that goes to a temporary file
	spoolPiece  = 256 << 10
)

// A spoolPart is what a read returned.
type spoolPart struct {
	data []byte
	err  error
}

// spool reads what open opens to its end, or until the command is interrupted, whatever the stream does then.
func (c *copying) spool(open func() (io.ReadCloser, error)) (source.Source, error) {
	parts := make(chan spoolPart)
	go readParts(c.ctx, open, parts)
	s := new(spool)
	for {
		select {
		case <-c.ctx.Done():
			_ = s.Close()
			return nil, context.Cause(c.ctx)
		case part := <-parts:
			c.progress.addBytes(int64(len(part.data)))
			err := s.add(part.data)
			if err == nil {
				err = part.err
			}
			if err == io.EOF {
				return s, nil
			}
			if err != nil {
				_ = s.Close()
				return nil, err
			}
		}
	}
}

// spoolInput is spool for standard input. A file that is given as such need not be read before its time.
func (c *copying) spoolInput() (source.Source, error) {
	if f, ok := c.stdin.(*os.File); ok {
		info, err := f.Stat()
		start, seekErr := f.Seek(0, io.SeekCurrent)
		if err == nil && seekErr == nil && info.Mode().IsRegular() {
			return &spool{file: f, start: start, size: max(0, info.Size()-start), given: true}, nil
		}
	}
	return c.spool(func() (io.ReadCloser, error) { return io.NopCloser(c.stdin), nil })
}

// readParts sends what a stream holds, until it ends with an error or the context does.
func readParts(ctx context.Context, open func() (io.ReadCloser, error), parts chan<- spoolPart) {
	r, err := open()
	if err == nil {
		defer r.Close()
	}
	for {
		var part spoolPart
		if part.err = err; err == nil {
			p := make([]byte, spoolPiece)
			var n int
			n, err = r.Read(p)
			part = spoolPart{p[:n], err}
		}
		select {
		case parts <- part:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

func (s *spool) add(p []byte) (err error) {
	s.size += int64(len(p))
	if s.file == nil && s.size <= spoolMemory {
		s.data = append(s.data, p...)
		return nil
	}
	if s.file == nil {
		if s.file, err = os.CreateTemp("", "folio-"); err != nil {
			return err
		}
		if os.Remove(s.file.Name()) != nil {
			s.temp = s.file.Name()
		}
		if _, err = s.file.Write(s.data); err != nil {
			return err
		}
		s.data = nil
	}
	_, err = s.file.Write(p)
	return err
}

func (s *spool) OnDisk() bool { return true }

func (s *spool) Size(context.Context) (int64, bool) { return s.size, true }

func (s *spool) Walk(_ context.Context, fn func(*source.Entry) error) error {
	e := &source.Entry{Size: s.size, Data: s.data}
	e.Name, e.Mode = ".", 0o666
	e.UID, e.GID = uint32(max(0, os.Geteuid())), uint32(max(0, os.Getegid()))
	if s.file != nil {
		e.Content = io.NewSectionReader(s.file, s.start, s.size)
	}
	return fn(e)
}

func (s *spool) Close() error {
	if s.file == nil || s.given {
		return nil
	}
	err := s.file.Close()
	if s.temp != "" {
		_ = os.Remove(s.temp)
	}
	return err
}
