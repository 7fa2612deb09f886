package source

import (
	"context"
	"errors"
	"io"

	"github.com/foliofs/folio"
)

// A content is where the bytes of a regular file come from.
type content interface {
	// open opens the content. It may add to the entry.
	open(e *Entry) (io.ReadCloser, error)
}

// An exact is a content of a known size. Another size is ErrChanged.
type exact struct {
	ctx context.Context
	io.ReadCloser
	left int64
	err  error // the last one, io.EOF included
}

func (x *exact) Read(p []byte) (n int, err error) {
	switch {
	case x.err != nil:
		return 0, x.err
	case x.ctx.Err() != nil:
		x.err = context.Cause(x.ctx)
		return 0, x.err
	case x.left == 0:
		if x.err = archiveError(atEnd(x.ReadCloser)); x.err == nil {
			x.err = io.EOF
		}
		return 0, x.err
	}
	n, err = x.ReadCloser.Read(p[:min(int64(len(p)), x.left)])
	if x.left -= int64(n); err != nil && (err != io.EOF || x.left > 0) {
		x.err = archiveError(shortContent(err))
	}
	return n, x.err
}

// SkipHole implements folio.SparseReader.
func (x *exact) SkipHole(unit int64) (n int64, err error) {
	if s, ok := x.ReadCloser.(folio.SparseReader); ok && x.err == nil {
		n, err = s.SkipHole(unit)
		x.left -= n
	}
	return n, err
}

// finish reads the content to its end, where checksums are, but not a file on disk that the
// consumer did not read as far as its size.
func (x *exact) finish() {
	if _, onDisk := x.ReadCloser.(*diskFile); !onDisk || x.left == 0 {
		_, _ = io.Copy(io.Discard, struct{ io.Reader }{x})
	}
}

// shortContent is the error for a content that ends too early with err.
func shortContent(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrChanged
	}
	return err
}

// atEnd checks that a reader has nothing more to give; reading on also makes it check its checksum.
func atEnd(r io.Reader) error {
	var one [1]byte
	switch n, err := io.ReadFull(r, one[:]); {
	case n > 0:
		return ErrChanged
	case err == io.EOF:
		return nil
	default:
		return err
	}
}

// readExactly fills p from r, which must end there.
func readExactly(r io.Reader, p []byte) error {
	if _, err := io.ReadFull(r, p); err != nil {
		return archiveError(shortContent(err))
	}
	return archiveError(atEnd(r))
}

// A lent content is a reader of the producer, which waits until the consumer is done with it.
type lent struct {
	io.Reader
	done chan struct{}
}

func (l lent) open(*Entry) (io.ReadCloser, error) { return l, nil }

func (l lent) Close() error {
	close(l.done)
	return nil
}

// pieceSize is how many bytes Interruptible copies at once.
const pieceSize = 256 << 10

// Interruptible returns the content of the reader that open opens, until ctx ends, even while open
// or the reader waits. The reader is closed at its end, or later if it waits.
func Interruptible(ctx context.Context, open func() (io.ReadCloser, error)) io.ReadCloser {
	r, w := io.Pipe()
	context.AfterFunc(ctx, func() { _ = w.CloseWithError(context.Cause(ctx)) })
	go func() {
		in, err := open()
		if err == nil {
			_, err = io.CopyBuffer(w, struct{ io.Reader }{in}, make([]byte, pieceSize))
			_ = in.Close()
		}
		_ = w.CloseWithError(err)
	}()
	return r
}
