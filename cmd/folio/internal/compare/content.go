package compare

import (
	"bytes"
	"errors"
	"io"
)

// contentPart is how much of two contents is compared at once.
const contentPart = 128 << 10

// aheadSize is the size of the smallest file that is worth another goroutine.
const aheadSize = 16 << 10

// A contents compares contents by parts. It reuses its buffers.
type contents struct {
	apart bool // the trees share nothing: one goroutine may read each
	left  []byte
	right [2][]byte
	seen  func(bytes int64)
}

// makeBuffers makes the buffers when they are needed first.
func (c *contents) makeBuffers() {
	if c.left == nil {
		c.left, c.right[0], c.right[1] = make([]byte, contentPart), make([]byte, contentPart), make([]byte, contentPart)
	}
}

// equal compares two regular files. An error is a *ReadError.
func (c *contents) equal(a, b *File) (bool, error) {
	if a.Size != b.Size {
		return false, nil
	}
	c.makeBuffers()
	x, y := &reading{file: a}, &reading{file: b}
	defer x.close()
	defer y.close()
	next := func() ([]byte, error) { return y.read(c.right[0]) }
	if c.apart && b.Size >= aheadSize {
		ahead := readAhead(y, c.right)
		defer ahead.stop()
		next = ahead.next
	}
	for {
		p, err := x.read(c.left)
		if err != nil {
			return false, err
		}
		q, err := next()
		if err != nil {
			return false, err
		}
		c.seen(int64(len(q)))
		if !bytes.Equal(p, q) {
			return false, nil
		}
		if len(p) < contentPart {
			return true, nil
		}
	}
}

// A reading is a file that is read part by part.
type reading struct {
	file *File
	r    io.ReadCloser // nil before the first part
}

// read fills p as far as there is something left, and returns the bytes it read. An error is a
// *ReadError.
func (r *reading) read(p []byte) (_ []byte, err error) {
	if r.r == nil {
		if r.r, err = r.file.Open(); err != nil {
			r.r = nil
			return nil, &ReadError{r.file, err}
		}
	}
	n, err := io.ReadFull(r.r, p)
	if err != nil && err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, &ReadError{r.file, err}
	}
	return p[:n], nil
}

func (r *reading) close() {
	if r.r != nil {
		_ = r.r.Close()
	}
}

// An aheadReading reads a file on a goroutine of its own, one part ahead.
type aheadReading struct {
	parts chan aheadPart
	done  chan struct{}
}

type aheadPart struct {
	data []byte
	err  error
}

// readAhead begins to read. While the caller looks at a part in one buffer, the next one comes into
// the other.
func readAhead(r *reading, buffers [2][]byte) *aheadReading {
	a := &aheadReading{make(chan aheadPart), make(chan struct{})}
	go func() {
		defer close(a.parts)
		for i := 0; ; i ^= 1 {
			data, err := r.read(buffers[i])
			select {
			case a.parts <- aheadPart{data, err}:
			case <-a.done:
				return
			}
			if err != nil || len(data) < len(buffers[i]) {
				return
			}
		}
	}()
	return a
}

func (a *aheadReading) next() ([]byte, error) {
	p := <-a.parts
	return p.data, p.err
}

// stop waits until nothing is read any more.
func (a *aheadReading) stop() {
	close(a.done)
	for range a.parts {
	}
}
