package serve

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// Times that a client has. Each counts from the last byte that moved, so a large file may take as
// long as it needs, and a client that stands still is cut off.
var ( // tests set them
	stallTime  = 60 * time.Second
	extendTime = 5 * time.Second // a deadline is moved on after that long at the earliest
)

// A response is an http.ResponseWriter that knows how much was sent, and cuts off a client that
// stands still.
type response struct {
	http.ResponseWriter
	control  *http.ResponseController
	metrics  *metrics
	buffers  *buffers
	status   int // 0: nothing was sent
	bytes    int64
	extended time.Time
	read     time.Time // the deadline of the body was moved on
}

func newResponse(w http.ResponseWriter, s *site) *response {
	out := &response{ResponseWriter: w, control: http.NewResponseController(w), metrics: s.metrics, buffers: s.buffers}
	out.extend() // the deadline of the request before may still be set
	return out
}

// Unwrap is for http.ResponseController.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *response) WriteHeader(status int) {
	if status >= http.StatusOK && w.status == 0 {
		w.status = status
		w.extend()
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write gives the client more time with each part that it takes: a slow client may take long, a
// stalled one may not.
func (w *response) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	w.extend()
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	w.metrics.sent.Add(int64(n))
	return n, err
}

// ReadFrom sends the bytes of a reader. Package io uses it to copy, with a buffer of ours.
func (w *response) ReadFrom(r io.Reader) (written int64, err error) {
	size := int64(-1)
	if part, ok := r.(*io.LimitedReader); ok {
		size = part.N
	}
	buf, release := w.buffers.get(size)
	defer release()
	return io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{r}, buf)
}

// extend moves the deadline of the client on.
func (w *response) extend() {
	if now := time.Now(); now.Sub(w.extended) > extendTime {
		w.extended = now
		_ = w.control.SetWriteDeadline(now.Add(stallTime)) // a test's recorder has none
	}
}

// Flush sends the written bytes.
func (w *response) Flush() { _ = w.control.Flush() }

// A body is the body of a request. It cuts off a client that stands still.
type body struct {
	io.ReadCloser
	w *response
}

// newBody gives the client time for the body from now on: also if no handler reads it, as package
// http reads the rest of it before it sends the answer.
func newBody(w *response, r io.ReadCloser) io.ReadCloser {
	if r == nil || r == http.NoBody {
		return r
	}
	b := &body{r, w}
	b.extend()
	return b
}

func (b *body) extend() {
	if now := time.Now(); now.Sub(b.w.read) > extendTime {
		b.w.read = now
		_ = b.w.control.SetReadDeadline(now.Add(stallTime))
	}
}

// Read gives the client more time with each part that arrives. It marks errors of the connection as
// a brokenBodyError, so that callers can tell them from errors of the volume.
func (b *body) Read(p []byte) (int, error) {
	b.extend()
	n, err := b.ReadCloser.Read(p)
	b.w.metrics.received.Add(int64(n))
	switch {
	case err == nil:
	case err == io.EOF:
		_ = b.w.control.SetReadDeadline(time.Time{}) // the answer may take longer
	case err != io.ErrUnexpectedEOF && err != http.ErrBodyReadAfterClose && !errors.Is(err, os.ErrDeadlineExceeded):
		err = brokenBodyError{err}
	}
	return n, err
}

// A brokenBodyError says that the body of a request cannot be read, because of the client or of the
// network.
type brokenBodyError struct{ error }

func (e brokenBodyError) Unwrap() error { return e.error }

func (brokenBodyError) Is(target error) bool { return target == errBrokenBody }

var errBrokenBody = errors.New("the body cannot be read")
