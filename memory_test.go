package folio_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/volumetest"
)

// TestMemory lets the standard library judge a volume in memory, and changes all that can be
// changed.
func TestMemory(t *testing.T) {
	t.Parallel()
	v := volumetest.Memory(t, nil)
	must.Do(t, v.MkdirAll("a/b", 0o755))
	must.Do(t, v.WriteFile("a/b/f", []byte("content"), 0o644))
	must.Do(t, v.Symlink("b/f", "a/link"))
	must.Do(t, v.Merge(t.Context(), os.DirFS(volumetest.Goroot(t, "src/io")), "io", nil))
	must.Do(t, fstest.TestFS(v.FS(), "a/b/f", "io/fs/fs.go"))
	must.Do(t, v.Update(t.Context(), func(tx *folio.Tx) error {
		if err := tx.Rename("a/b/f", "g"); err != nil {
			return err
		}
		return tx.RemoveAll("io/fs")
	}))
	must.Do(t, v.Compact(t.Context(), nil))
	must.Do(t, v.Sync(t.Context()))
	volumetest.WantFile(t, v, "g", "content")
	volumetest.WantNone(t, v, "io/fs")
	volumetest.WantClean(t, v)
	if info, err := v.Info(t.Context()); err != nil || info.Path != "memory" {
		t.Errorf("%+v, %v", info, err)
	}
	if _, err := os.Stat("memory"); err == nil {
		t.Error("there is a file on disk")
	}
	sameTree(t, onDisk(t, v).FS(), v.FS())
	must.Do(t, v.Close())
	if _, err := v.ReadFile("g"); err == nil {
		t.Error("a closed volume is read")
	}
	volumetest.WantNone(t, volumetest.Memory(t, nil), "g")
}

// onDisk opens a copy on disk of a volume.
func onDisk(t *testing.T, v *folio.Volume) *folio.Volume {
	t.Helper()
	path := filepath.Join(t.TempDir(), "copy.folio")
	must.Do(t, v.BackupFile(t.Context(), path, nil))
	return volumetest.Open(t, path)
}

// TestMemoryConcurrent reads and writes a volume in memory from many goroutines.
func TestMemoryConcurrent(t *testing.T) {
	t.Parallel()
	v := volumetest.Memory(t, nil)
	must.Do(t, v.WriteFile("a", []byte{0}, 0o644))
	must.Do(t, v.WriteFile("b", []byte{0}, 0o644))
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 100 {
				data := bytes.Repeat([]byte{byte(g), byte(i)}, 1+i*97)
				err := v.Update(context.Background(), func(tx *folio.Tx) error {
					if err := tx.WriteFile("a", data, 0o644); err != nil {
						return err
					}
					return tx.WriteFile("b", data, 0o644)
				})
				if err == nil {
					err = v.View(context.Background(), equalFiles)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	volumetest.WantClean(t, v)
}

func equalFiles(rx *folio.Rx) error {
	a, err := rx.ReadFile("a")
	if err != nil {
		return err
	}
	b, err := rx.ReadFile("b")
	if err == nil && !bytes.Equal(a, b) {
		err = fmt.Errorf("%d and %d bytes differ", len(a), len(b))
	}
	return err
}

// A volume in memory has the limit of Options.MaxSize.
func TestMemoryFull(t *testing.T) {
	t.Parallel()
	v := volumetest.Memory(t, &folio.Options{MaxSize: 1 << 20})
	err := v.WriteFile("large", bytes.Repeat([]byte("x"), 2<<20), 0o644)
	if !errors.Is(err, folio.ErrFull) {
		t.Errorf("%v, want ErrFull", err)
	}
	must.Do(t, v.WriteFile("small", []byte("x"), 0o644))
	volumetest.WantClean(t, v)
}

// ExampleOpenMemory makes a volume that lies in memory, and keeps a copy.
func ExampleOpenMemory() {
	v, err := folio.OpenMemory(nil)
	if err != nil {
		panic(err)
	}
	defer v.Close()
	if err := v.WriteFile("hello.txt", []byte("hello"), 0o644); err != nil {
		panic(err)
	}
	data, err := fs.ReadFile(v.FS(), "hello.txt")
	fmt.Printf("%s, %v\n", data, err)
	var file bytes.Buffer // a SQLite database
	err = v.Backup(context.Background(), &file)
	fmt.Printf("%.15s, %v\n", file.Bytes(), err)
	// Output:
	// hello, <nil>
	// SQLite format 3, <nil>
}
