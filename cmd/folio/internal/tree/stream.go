package tree

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"sync"
)

// Chunks of a stream: few, so that a large file is read ahead a little and never held.
const (
	chunkSize   = 256 << 10
	chunksAhead = 4
)

var chunkPool = sync.Pool{New: func() any { return new([chunkSize]byte) }}

// A Stream is a pipe of chunks from one goroutine, which writes and closes it, to another, which
// reads. Both sides end when the context does.
type Stream struct {
	ctx    context.Context
	chunks chan chunk
	cur    chunk // being read
	off    int   // in cur
	failed error // the last error of Read, io.EOF included; the reader's
	err    error // set by close, before chunks is closed
}

// A chunk is a part of a content: n bytes, or a hole.
type chunk struct {
	buf  *[chunkSize]byte
	n    int
	hole int64 // how many zeros are left of it
}

func newStream(ctx context.Context) *Stream {
	return &Stream{ctx: ctx, chunks: make(chan chunk, chunksAhead)}
}

// Read returns the error that the writer closed the stream with, or io.EOF.
func (s *Stream) Read(p []byte) (int, error) {
	for s.off == s.cur.n && s.cur.hole == 0 {
		if s.failed = s.receive(); s.failed != nil {
			return 0, s.failed
		}
	}
	if s.cur.hole > 0 {
		n := min(int64(len(p)), s.cur.hole)
		clear(p[:n])
		s.cur.hole -= n
		return int(n), nil
	}
	n := copy(p, s.cur.buf[s.off:s.cur.n])
	s.off += n
	return n, nil
}

// SkipHole implements folio.SparseReader. It leaves an end, and an error, to Read.
func (s *Stream) SkipHole(unit int64) (int64, error) {
	if s.failed == nil && s.off == s.cur.n && s.cur.hole == 0 {
		s.failed = s.receive()
	}
	n := s.cur.hole - s.cur.hole%unit
	s.cur.hole -= n
	return n, nil
}

// receive waits for the next chunk, and gives the one before back to the pool.
func (s *Stream) receive() error {
	if s.cur.buf != nil {
		chunkPool.Put(s.cur.buf)
	}
	s.cur, s.off = chunk{}, 0
	select {
	case c, ok := <-s.chunks:
		if ok {
			s.cur = c
			return nil
		}
		return cmp.Or(s.err, io.EOF)
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	}
}

// CopyAll writes exactly size bytes of r to the stream. Fewer or more are ErrChanged.
func (s *Stream) CopyAll(r io.Reader, size int64) error {
	if err := s.Copy(r, size); err != nil {
		return err
	}
	return AtEnd(r)
}

// Copy writes the next size bytes of r to the stream. Fewer are ErrChanged.
func (s *Stream) Copy(r io.Reader, size int64) error {
	for left := size; left > 0; {
		c := chunk{buf: chunkPool.Get().(*[chunkSize]byte)}
		n, err := io.ReadFull(r, c.buf[:min(left, chunkSize)])
		if n > 0 {
			c.n = n
			if err := s.send(c); err != nil {
				return err
			}
		}
		if left -= int64(n); left > 0 && err != nil {
			return shortContent(err)
		}
	}
	return nil
}

// AddHole writes size zeros to the stream.
func (s *Stream) AddHole(size int64) error {
	if size == 0 {
		return nil
	}
	return s.send(chunk{hole: size})
}

func (s *Stream) send(c chunk) error {
	select {
	case s.chunks <- c:
		return nil
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	}
}

// close ends the stream, with an error for the reader or nil. An io.EOF is an error here: it comes
// from opening a content, and must not look like the end of one.
func (s *Stream) close(err error) {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	s.err = err
	close(s.chunks)
}

// finish reads the stream to its end, after the reader is done. It returns the error of the writer.
func (s *Stream) finish() error {
	for s.failed == nil {
		s.failed = s.receive()
	}
	if s.failed == io.EOF {
		return nil
	}
	return s.failed
}

// shortContent is the error for a content that ends too early with err.
func shortContent(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrChanged
	}
	return err
}

// ReadFull fills p from r. If there is less, it returns ErrChanged.
func ReadFull(r io.Reader, p []byte) error {
	if _, err := io.ReadFull(r, p); err != nil && len(p) > 0 {
		return shortContent(err)
	}
	return nil
}

// AtEnd checks that a reader has nothing more to give; reading on also makes it check its checksum.
func AtEnd(r io.Reader) error {
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

// ReadExactly fills p from r, which must end there.
func ReadExactly(r io.Reader, p []byte) error {
	if err := ReadFull(r, p); err != nil {
		return err
	}
	return AtEnd(r)
}

// ReadAhead returns a reader of the size bytes of r, which another goroutine reads a little ahead
// of the caller. After stop, nothing reads r any more.
func ReadAhead(ctx context.Context, r io.Reader, size int64) (ahead io.Reader, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	s, done := newStream(ctx), make(chan struct{})
	go func() {
		defer close(done)
		s.close(s.CopyAll(r, size))
	}()
	return s, func() {
		cancel()
		<-done
	}
}

// comparePart is how much of two contents is compared at once.
const comparePart = 128 << 10

var comparePool = sync.Pool{New: func() any { return new([2][comparePart]byte) }}

// EqualContents reports whether two readers give the same bytes.
func EqualContents(a, b io.Reader) (bool, error) {
	parts := comparePool.Get().(*[2][comparePart]byte)
	defer comparePool.Put(parts)
	for {
		p, err := readPart(a, &parts[0])
		if err != nil {
			return false, err
		}
		q, err := readPart(b, &parts[1])
		if err != nil {
			return false, err
		}
		if !bytes.Equal(p, q) {
			return false, nil
		}
		if len(p) < comparePart {
			return true, nil
		}
	}
}

// readPart reads the next part of a content. A shorter one is the last.
func readPart(r io.Reader, p *[comparePart]byte) ([]byte, error) {
	n, err := io.ReadFull(r, p[:])
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return p[:n], err
}
