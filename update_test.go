package folio_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/blocked"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/volumetest"
)

// TestInUpdate makes each call of the volume that would wait for the Update that it is a part of:
// the call fails after Options.BusyTimeout, and the Update goes on.
func TestInUpdate(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	calls := map[string]func(v *folio.Volume, held *folio.File, root *folio.Root) error{
		"WriteFile": func(v *folio.Volume, _ *folio.File, _ *folio.Root) error { return v.WriteFile("a", nil, 0o600) },
		"a large one": func(v *folio.Volume, _ *folio.File, _ *folio.Root) error {
			return v.WriteFile("a", make([]byte, 1<<20), 0o600)
		},
		"Create":      func(v *folio.Volume, _ *folio.File, _ *folio.Root) error { _, err := v.Create("a"); return err },
		"RemoveAll":   func(v *folio.Volume, _ *folio.File, _ *folio.Root) error { return v.RemoveAll("held") },
		"Root.Remove": func(_ *folio.Volume, _ *folio.File, root *folio.Root) error { return root.Remove("held") },
		"File.Write": func(_ *folio.Volume, held *folio.File, _ *folio.Root) error {
			_, err := held.Write([]byte("a"))
			return err
		},
		"File.Sync": func(_ *folio.Volume, held *folio.File, _ *folio.Root) error { return held.Sync() },
		"WriteFrom": func(v *folio.Volume, _ *folio.File, _ *folio.Root) error {
			_, err := v.WriteFrom("a", io.LimitReader(zeros{}, 1<<20), 0o600)
			return err
		},
		"CreateTemp": func(v *folio.Volume, _ *folio.File, _ *folio.Root) error {
			_, err := v.CreateTemp(".", "a")
			return err
		},
		"CopyFile": func(v *folio.Volume, _ *folio.File, _ *folio.Root) error { return v.CopyFile("held", "copy") },
		"Update": func(v *folio.Volume, _ *folio.File, _ *folio.Root) error {
			return v.Update(ctx, func(*folio.Tx) error { return nil })
		},
		"Merge": func(v *folio.Volume, _ *folio.File, _ *folio.Root) error {
			return v.Merge(ctx, fstest.MapFS{}, "a", nil)
		},
		"Sync":     func(v *folio.Volume, _ *folio.File, _ *folio.Root) error { return v.Sync(ctx) },
		"Compact":  func(v *folio.Volume, _ *folio.File, _ *folio.Root) error { return v.Compact(ctx, nil) },
		"Repair":   func(v *folio.Volume, _ *folio.File, _ *folio.Root) error { _, err := v.Repair(ctx); return err },
		"Close":    func(v *folio.Volume, _ *folio.File, _ *folio.Root) error { return v.Close() },
		"Snapshot": func(v *folio.Volume, _ *folio.File, _ *folio.Root) error { return v.CreateSnapshot(ctx, "s") },
		"Restore": func(v *folio.Volume, _ *folio.File, _ *folio.Root) error {
			_, err := v.Restore(ctx, "old", ".", nil)
			return err
		},
		"Prune": func(v *folio.Volume, _ *folio.File, _ *folio.Root) error {
			_, err := v.Prune(ctx, folio.PrunePolicy{Last: 1})
			return err
		},
		"another goroutine": func(v *folio.Volume, _ *folio.File, _ *folio.Root) error {
			done := make(chan error)
			go func() { done <- v.WriteFile("a", nil, 0o600) }()
			return <-done
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := volumetest.Memory(t, &folio.Options{BusyTimeout: time.Millisecond})
			must.Do(t, v.WriteFile("held", nil, 0o600))
			held, err := v.OpenFile("held", os.O_RDWR, 0)
			must.Do(t, err)
			defer held.Close()
			root, err := v.OpenRoot(".")
			must.Do(t, err)
			defer root.Close()
			must.Do(t, v.CreateSnapshot(ctx, "old"))
			must.Do(t, v.CreateSnapshot(ctx, "new"))
			must.Do(t, v.Update(ctx, func(tx *folio.Tx) error {
				if err := call(v, held, root); !errors.Is(err, folio.ErrBusy) || !strings.Contains(err.Error(), "*Tx") {
					t.Errorf("%v, want ErrBusy", err)
				}
				return tx.WriteFile("by-tx", nil, 0o600)
			}))
			must.Do(t, v.WriteFile("after", nil, 0o600))
			if _, err := v.ReadFile("by-tx"); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestBesideUpdate makes calls that an Update does not let fail.
func TestBesideUpdate(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	v, other := writable(t), writable(t)
	must.Do(t, v.WriteFile("a", []byte("old"), 0o600))
	waiting := make(chan error, 2)
	must.Do(t, v.Update(ctx, func(tx *folio.Tx) error {
		must.Do(t, tx.WriteFile("a", []byte("new"), 0o600))
		if p, err := v.ReadFile("a"); err != nil || string(p) != "old" {
			t.Errorf("reading in Update: %q, %v", p, err)
		}
		cancelled, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		if err := v.Sync(cancelled); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with a context: %v", err)
		}
		go func() { waiting <- v.WriteFile("b", nil, 0o600) }()
		go func() { waiting <- v.Update(ctx, func(tx *folio.Tx) error { return tx.WriteFile("c", nil, 0o600) }) }()
		blocked.Wait(t, "TestBesideUpdate", "(*writer).WriteFile")
		blocked.Wait(t, "TestBesideUpdate", "(*Volume).Update", "(*updates).wait")
		return other.WriteFile("a", nil, 0o600) // of another volume
	}))
	must.Do(t, <-waiting)
	must.Do(t, <-waiting)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func writable(t *testing.T) *folio.Volume {
	t.Helper()
	v, err := folio.Open(filepath.Join(t.TempDir(), "v.folio"), &folio.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	return v
}
