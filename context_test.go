package folio_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/volumetest"
)

// TestWithContext makes calls with a context before and after it is done, and one that it ends
// while the call waits.
func TestWithContext(t *testing.T) {
	t.Parallel()
	v := volumetest.Memory(t, nil)
	must.Do(t, v.Mkdir("d", 0o755))
	must.Do(t, v.WriteFile("d/f", []byte("content"), 0o644))
	dir, err := v.OpenRoot("d")
	must.Do(t, err)
	for name, in := range map[string]func(ctx context.Context) (*folio.Root, string){
		"Volume": func(ctx context.Context) (*folio.Root, string) { return v.WithContext(ctx), "d/f" },
		"Root":   func(ctx context.Context) (*folio.Root, string) { return dir.WithContext(ctx), "f" },
		"Root in it": func(ctx context.Context) (*folio.Root, string) {
			r, err := v.WithContext(ctx).OpenRoot("d")
			must.Do(t, err)
			return r, "f"
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r, file := in(ctx)
			f, err := r.OpenFile(file, os.O_RDWR, 0)
			must.Do(t, err)
			defer f.Close()
			calls := map[string]func() error{
				"ReadFile":  func() error { _, err := r.ReadFile(file); return err },
				"Stat":      func() error { _, err := r.Stat(file); return err },
				"ReadDir":   func() error { _, err := r.ReadDir("."); return err },
				"FS":        func() error { _, err := fs.ReadFile(r.FS(), file); return err },
				"WriteFile": func() error { return r.WriteFile(file, []byte("content"), 0o644) },
				"Chmod":     func() error { return r.Chmod(file, 0o600) },
				"Read":      func() error { _, err := f.ReadAt(make([]byte, 7), 0); return err },
				"Write":     func() error { _, err := f.WriteAt([]byte("content"), 0); return err },
				"Sync":      f.Sync,
				"WriteFrom": func() error { _, err := r.WriteFrom("other", io.LimitReader(zeros{}, 1<<20), 0o600); return err },
			}
			for name, call := range calls {
				if err := call(); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			cancel()
			for name, call := range calls {
				if err := call(); !errors.Is(err, context.Canceled) {
					t.Errorf("%s after the end: %v", name, err)
				}
			}
		})
	}
	soon, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	must.Do(t, v.Update(t.Context(), func(*folio.Tx) error {
		if err := v.WithContext(soon).Mkdir("x", 0o755); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("while another transaction runs: %v", err)
		}
		return nil
	}))
	if r := v.WithContext(t.Context()); r.Name() != "." || r.Close() != nil {
		t.Error(r.Name())
	}
	if _, err := v.Lstat("x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("x: %v", err)
	}
	if p, err := v.ReadFile("d/f"); err != nil || string(p) != "content" {
		t.Errorf("%q, %v", p, err)
	}
}
