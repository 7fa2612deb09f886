package folio_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"
	"testing/iotest"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/volumetest"
	"github.com/foliofs/folio/sqlitefile"
)

// image returns a volume of some files as bytes.
func image(t *testing.T) []byte {
	t.Helper()
	v := volumetest.Empty(t)
	must.Do(t, v.MkdirAll("a/b", 0o755))
	must.Do(t, v.WriteFile("a/b/f", []byte("content"), 0o644))
	must.Do(t, v.WriteFile("large", bytes.Repeat([]byte("0123456789abcdef"), 40_000), 0o644))
	var b bytes.Buffer
	must.Do(t, v.Backup(t.Context(), &b))
	return b.Bytes()
}

// TestReaderAt reads a volume that is no file: all that reads works, from many goroutines, and all
// that writes is refused.
func TestReaderAt(t *testing.T) {
	t.Parallel()
	data := image(t)
	padded := append(bytes.Clone(data), "what follows is none of it"...)
	v, err := folio.OpenReaderAt(bytes.NewReader(padded), int64(len(data)), nil)
	must.Do(t, err)
	defer v.Close()
	must.Do(t, fstest.TestFS(v.FS(), "a/b/f", "large"))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if p, err := v.ReadFile("large"); err != nil || len(p) != 640_000 {
				t.Errorf("%d bytes, %v", len(p), err)
			}
		})
	}
	wg.Wait()
	volumetest.WantFile(t, v, "a/b/f", "content")
	volumetest.WantClean(t, v)
	if info, err := v.Info(t.Context()); err != nil || info.Path != "io.ReaderAt" {
		t.Errorf("%+v, %v", info, err)
	}
	for what, err := range map[string]error{
		"WriteFile": v.WriteFile("x", nil, 0o644), "Remove": v.Remove("large"), "Mkdir": v.Mkdir("d", 0o755), "Compact": v.Compact(t.Context(), nil),
		"Repair": must.Second(v.Repair(t.Context())), "Create": must.Second(v.Create("x")),
		"Update": v.Update(t.Context(), func(tx *folio.Tx) error { return tx.Remove("large") }),
	} {
		if !errors.Is(err, folio.ErrReadOnly) {
			t.Errorf("%s: %v, want ErrReadOnly", what, err)
		}
	}
	var again bytes.Buffer
	must.Do(t, v.Backup(t.Context(), &again))
	if !bytes.Equal(again.Bytes(), data) {
		t.Error("a copy is not the same")
	}
	path := filepath.Join(t.TempDir(), "copy.folio")
	must.Do(t, v.BackupFile(t.Context(), path, nil))
	volumetest.WantFile(t, volumetest.Open(t, path), "a/b/f", "content")
}

// TestReaderAtRefusals opens bytes that are no volume.
func TestReaderAtRefusals(t *testing.T) {
	t.Parallel()
	data := image(t)
	for what, test := range map[string]struct {
		r    io.ReaderAt
		size int64
		want error
	}{
		"no reader":         {nil, 0, fs.ErrInvalid},
		"a negative size":   {bytes.NewReader(data), -1, fs.ErrInvalid},
		"no bytes":          {bytes.NewReader(nil), 0, nil},
		"text":              {bytes.NewReader(make([]byte, 5000)), 5000, nil},
		"half of a volume":  {bytes.NewReader(data[:len(data)/2]), int64(len(data) / 2), nil},
		"fewer bytes":       {bytes.NewReader(data[:50]), int64(len(data)), nil},
		"an error":          {failing{}, int64(len(data)), iotest.ErrTimeout},
		"a silent reader":   {silent{}, int64(len(data)), io.ErrNoProgress},
		"a name that is no": {closedFile(t), int64(len(data)), fs.ErrClosed},
	} {
		v, err := folio.OpenReaderAt(test.r, test.size, nil)
		if err == nil { // the damage lies further behind
			report, err := v.Check(t.Context(), nil)
			if err == nil && report.OK() {
				t.Errorf("%s: Check finds nothing", what)
			}
			must.Do(t, v.Close())
			continue
		}
		if _, ok := errors.AsType[*fs.PathError](err); !ok && !errors.Is(err, sqlitefile.ErrCorrupt) || test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", what, err, test.want)
		}
	}
}

type failing struct{}

func (failing) ReadAt([]byte, int64) (int, error) { return 0, iotest.ErrTimeout }

type silent struct{}

func (silent) ReadAt([]byte, int64) (int, error) { return 0, nil }

func closedFile(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Open(t.TempDir())
	must.Do(t, err)
	must.Do(t, f.Close())
	return f
}
