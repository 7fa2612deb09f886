package copier

import (
	"context"
	"io"
	"os"

	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/internal/posix"
)

// A spool is the whole of a stream, read before the volume that it goes to is locked. The process
// that writes the stream may take its time. A spool is a source with one file.
type spool struct {
	title string   // how errors name it
	data  []byte   // of a short one
	file  *os.File // of a long one, from offset start on
	start int64
	size  int64
	given bool   // the file is the caller's: standard input
	temp  string // the name of the file, if the system does not let it go while it is open
}

const (
	spoolMemory = 16 << 20 // more than that goes to a temporary file
	spoolPiece  = 256 << 10
)

// spool reads the stream that open opens to its end, or until the command is interrupted, even if
// the stream is stuck in a read then.
func (c *Copy) spool(p *Place, open func() (io.ReadCloser, error)) (tree.Source, error) {
	r, w := io.Pipe()
	defer r.Close()
	go func() {
		in, err := open()
		if err == nil {
			_, err = io.CopyBuffer(w, struct{ io.Reader }{in}, make([]byte, spoolPiece))
			_ = in.Close()
		}
		_ = w.CloseWithError(err)
	}()
	defer context.AfterFunc(c.ctx, func() { _ = w.CloseWithError(context.Cause(c.ctx)) })()
	s := &spool{title: p.title()}
	if _, err := io.CopyBuffer(s, &tree.Meter{R: r, Count: c.progress.AddBytes}, make([]byte, spoolPiece)); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// spoolInput is spool for standard input. If standard input is a file, it is not copied: it can be
// read when the volume is locked, because no other program has to write it first.
func (c *Copy) spoolInput(p *Place) (tree.Source, error) {
	if f, ok := c.Stdin.(*os.File); ok {
		info, err := f.Stat()
		start, seekErr := f.Seek(0, io.SeekCurrent)
		if err == nil && seekErr == nil && info.Mode().IsRegular() {
			return &spool{title: p.title(), file: f, start: start, size: max(0, info.Size()-start), given: true}, nil
		}
	}
	return c.spool(p, func() (io.ReadCloser, error) { return io.NopCloser(c.Stdin), nil })
}

func (s *spool) Write(p []byte) (n int, err error) {
	if s.file == nil && len(s.data)+len(p) > spoolMemory {
		err = s.spill()
	}
	switch {
	case err != nil:
		return 0, err
	case s.file == nil:
		s.data, n = append(s.data, p...), len(p)
	default:
		n, err = s.file.Write(p)
	}
	s.size += int64(n)
	return n, err
}

// spill moves the data to a temporary file.
func (s *spool) spill() (err error) {
	if s.file, err = os.CreateTemp("", "folio-"); err != nil {
		return err
	}
	if os.Remove(s.file.Name()) != nil {
		s.temp = s.file.Name()
	}
	_, err = s.file.Write(s.data)
	s.data = nil
	return err
}

func (s *spool) Fail(err error) error { return failure.InTree(s.title, err) }

func (s *spool) Size(context.Context) (int64, bool) { return s.size, true }

func (s *spool) Walk(_ context.Context, fn func(*tree.Entry) error) error {
	e := &tree.Entry{Size: s.size, Data: s.data}
	e.Name, e.Mode = ".", 0o666
	e.UID, e.GID = posix.Owner()
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
