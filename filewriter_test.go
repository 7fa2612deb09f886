package folio_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/volumetest"
)

// TestWriteWaits uses a file in every way that changes nothing, while a change of it waits for its
// turn: these ways do not wait. Close is the last.
func TestWriteWaits(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(f *folio.File) error{
		"Write":      func(f *folio.File) error { return must.Second(f.Write([]byte("new"))) },
		"many bytes": func(f *folio.File) error { return must.Second(f.Write(make([]byte, 1<<20))) },
		"WriteAt":    func(f *folio.File) error { return must.Second(f.WriteAt([]byte("new"), 1)) },
		"Truncate":   func(f *folio.File) error { return f.Truncate(1) },
		"Chmod":      func(f *folio.File) error { return f.Chmod(0o600) },
		"Chown":      func(f *folio.File) error { return f.Chown(1, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := volumetest.Empty(t)
			must.Do(t, v.WriteFile("f", []byte("old"), 0o644))
			f, err := v.OpenFile("f", os.O_RDWR, 0)
			must.Do(t, err)
			must.Do(t, v.Remove("f"))
			done := make(chan error)
			must.Do(t, v.Update(t.Context(), func(*folio.Tx) error {
				go func() { done <- change(f) }()
				for !f.Changing() {
					runtime.Gosched()
				}
				p := make([]byte, 3)
				_, err := f.Seek(0, io.SeekStart)
				return errors.Join(err, must.Second(f.Read(p)), must.Second(f.ReadAt(p, 0)), must.Second(f.Stat()), f.Close())
			}))
			must.Do(t, <-done)
			if err := f.Chmod(0o644); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("Chmod after Close: %v", err)
			}
			if r, err := v.Check(t.Context(), nil); err != nil || !r.OK() || r.Nodes != 1 {
				t.Errorf("%+v, %v: the file was not let go of", r, err)
			}
		})
	}
}
