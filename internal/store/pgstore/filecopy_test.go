//go:build unix

package pgstore_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store/pgstore"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
	"github.com/foliofs/folio/internal/store/pgstore/s3server"
)

// A writerFunc is a function that does the writing.
type writerFunc func(p []byte) (int, error)

func (w writerFunc) Write(p []byte) (int, error) { return w(p) }

// TestWriteTo copies a file of which the next bytes are read while a writer takes the last ones. A
// writer that stops leaves the rest for Read, wherever it stops.
func TestWriteTo(t *testing.T) {
	t.Parallel()
	v := openLong(t, pgserver.Volume(t), pgstore.Options{Create: true, Bucket: s3server.Shared(t).Address(s3server.Bucket(t))})
	want := mixedFile(t, v, "file")
	open := func(off int64) *folio.File {
		f, err := v.OpenFile("file", os.O_RDWR, 0)
		must.Do(t, err)
		t.Cleanup(func() { _ = f.Close() })
		_, err = f.Seek(off, io.SeekStart)
		must.Do(t, err)
		return f
	}
	for _, off := range []int{0, 1, len(want) - 16<<20, len(want) - 16<<20 - 1, len(want) - 5, len(want), len(want) + 1} {
		var got bytes.Buffer
		n, err := open(int64(off)).WriteTo(&got)
		if rest := want[min(off, len(want)):]; err != nil || n != int64(len(rest)) || !bytes.Equal(got.Bytes(), rest) {
			t.Errorf("from byte %d on: %d bytes, %v", off, n, err)
		}
	}
	full := errors.New("full")
	for _, room := range []int{0, 5, 16<<20 - 1, 16 << 20, 16<<20 + 1, 30 << 20, len(want) - 1} {
		for _, refusal := range []error{nil, full} {
			var got bytes.Buffer
			f := open(0)
			n, err := f.WriteTo(writerFunc(func(p []byte) (int, error) {
				n, _ := got.Write(p[:min(len(p), room-got.Len())])
				if n < len(p) {
					return n, refusal
				}
				return n, nil
			}))
			if n != int64(room) || refusal != nil && !errors.Is(err, full) || refusal == nil && err != io.ErrShortWrite {
				t.Errorf("room for %d bytes: %d, %v", room, n, err)
			}
			rest, err := io.ReadAll(f)
			if got.Write(rest); err != nil || !bytes.Equal(got.Bytes(), want) {
				t.Errorf("room for %d bytes: other bytes, %v", room, err)
			}
		}
	}
	t.Run("closed", func(t *testing.T) {
		f, calls := open(0), 0
		_, err := f.WriteTo(writerFunc(func(p []byte) (int, error) {
			if calls++; calls == 2 {
				_ = f.Close()
			}
			return len(p), nil
		}))
		if calls < 2 || err != nil && !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%d calls, %v", calls, err)
		}
	})
	t.Run("in a transaction", func(t *testing.T) {
		must.Do(t, v.View(ctx, func(rx *folio.Rx) error {
			f, err := rx.Open("file")
			must.Do(t, err)
			defer f.Close()
			var got bytes.Buffer
			if _, err := f.WriteTo(&got); err != nil || !bytes.Equal(got.Bytes(), want) {
				t.Errorf("%d bytes, %v", got.Len(), err)
			}
			return nil
		}))
	})
	t.Run("growing", func(t *testing.T) {
		f, tail, got := open(0), randomBytes(3<<20), bytes.Buffer{}
		_, err := f.WriteTo(writerFunc(func(p []byte) (int, error) {
			if got.Len() == 0 {
				_, err := f.WriteAt(tail, int64(len(want)))
				must.Do(t, err)
			}
			return got.Write(p)
		}))
		if err != nil || !bytes.Equal(got.Bytes(), append(want, tail...)) {
			t.Errorf("%d bytes of %d, %v", got.Len(), len(want)+len(tail), err)
		}
	})
}
