package folio_test

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/foliofs/folio"
)

// Each call of the volume that would wait for the Update that it is a part of fails, and the Update
// goes on.
func TestInUpdate(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	v := writable(t)
	other := writable(t)
	held, err := v.Create("held")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	root, err := v.OpenRoot(".")
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string]func() error{
		"WriteFile":   func() error { return v.WriteFile("a", nil, 0o600) },
		"a large one": func() error { return v.WriteFile("a", make([]byte, 1<<20), 0o600) },
		"Create":      func() error { _, err := v.Create("a"); return err },
		"Mkdir":       func() error { return v.Mkdir("a", 0o700) },
		"RemoveAll":   func() error { return v.RemoveAll("held") },
		"Root.Remove": func() error { return root.Remove("held") },
		"File.Write":  func() error { _, err := held.Write([]byte("a")); return err },
		"File.Sync":   func() error { return held.Sync() },
		"WriteFrom":   func() error { _, err := v.WriteFrom("a", io.LimitReader(zeros{}, 1<<20), 0o600); return err },
		"CreateTemp":  func() error { _, err := v.CreateTemp(".", "a"); return err },
		"CopyFile":    func() error { return v.CopyFile("held", "copy") },
		"Update":      func() error { return v.Update(ctx, func(*folio.Tx) error { return nil }) },
		"Merge":       func() error { return v.Merge(ctx, fstest.MapFS{}, "a", nil) },
		"Sync":        func() error { return v.Sync(ctx) },
		"Compact":     func() error { return v.Compact(ctx, nil) },
		"Repair":      func() error { _, err := v.Repair(ctx); return err },
		"Close":       v.Close,
	}
	for name, call := range calls {
		err := v.Update(ctx, func(tx *folio.Tx) error {
			if err := call(); !errors.Is(err, folio.ErrInUpdate) {
				t.Errorf("%s: %v, want ErrInUpdate", name, err)
			}
			return tx.WriteFile("by-tx", []byte(name), 0o600)
		})
		if err != nil {
			t.Errorf("the Update around %s: %v", name, err)
		}
	}
	err = v.Update(ctx, func(*folio.Tx) error {
		if _, err := v.ReadFile("by-tx"); err != nil {
			t.Errorf("reading in Update: %v", err)
		}
		return other.WriteFile("a", nil, 0o600) // of another volume
	})
	if err != nil {
		t.Error(err)
	}
	if err := v.WriteFile("after", nil, 0o600); err != nil {
		t.Error(err)
	}
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
