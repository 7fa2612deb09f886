package tree

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/foliofs/folio"
)

// A brokenReader gives two bytes, a hole of 8 and an error.
type brokenReader struct {
	io.Reader
	err error
}

func (r *brokenReader) Read(p []byte) (int, error) {
	if n, err := r.Reader.Read(p); err != io.EOF {
		return n, err
	}
	return 0, r.err
}

func (r *brokenReader) SkipHole(unit int64) (int64, error) { return 8 / unit * unit, nil }

// TestMeter checks that a Meter counts bytes and holes, and remembers an error that is not an end.
func TestMeter(t *testing.T) {
	t.Parallel()
	for _, want := range []error{nil, errors.New("broken")} {
		var bytes int64
		end := want
		if end == nil {
			end = io.EOF
		}
		m := &Meter{R: &brokenReader{strings.NewReader("ab"), end}, Count: func(n int64) { bytes += n }}
		if n, err := m.SkipHole(4); n != 8 || err != nil {
			t.Errorf("SkipHole: %d, %v", n, err)
		}
		if _, err := io.ReadAll(m); err != want || m.Err != want || bytes != 10 {
			t.Errorf("%d bytes, %v, remembered %v; want 10, %v", bytes, err, m.Err, want)
		}
	}
	m := &Meter{R: strings.NewReader("a"), Count: func(int64) {}}
	if n, err := m.SkipHole(1); n != 0 || err != nil {
		t.Errorf("without holes: %d, %v", n, err)
	}
}

var (
	_ folio.SparseReader = (*Meter)(nil)
	_ Adder              = (*folio.Builder)(nil)
	_ Adder              = (*folio.Tx)(nil)
)
