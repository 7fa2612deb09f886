package folio_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/volumetest"
)

// TestCompactOpen compacts a volume while files of it are open, one of them without a name, and
// other goroutines read and write.
func TestCompactOpen(t *testing.T) {
	t.Parallel()
	v := volumetest.Empty(t)
	must.Do(t, v.WriteFile("large", make([]byte, 3<<20), 0o644))
	must.Do(t, v.WriteFile("gone", []byte("still here"), 0o644))
	must.Do(t, v.WriteFile("kept", []byte("kept"), 0o644))
	must.Do(t, v.Remove("large"))
	gone, err := v.OpenFile("gone", os.O_RDWR, 0)
	must.Do(t, err)
	defer gone.Close()
	must.Do(t, v.Remove("gone"))
	var wg sync.WaitGroup
	var done atomic.Bool
	for g := range 4 {
		wg.Go(func() {
			for i := 0; !done.Load(); i++ {
				name := fmt.Sprint(g, "-", i%10)
				err := v.WriteFile(name, []byte(name), 0o644)
				got, readErr := v.ReadFile("kept")
				if err != nil || readErr != nil || string(got) != "kept" {
					t.Errorf("%v, %v, %q", err, readErr, got)
					return
				}
			}
		})
	}
	before := volumetest.Size(t, v)
	for range 3 {
		must.Do(t, v.Compact(t.Context(), nil))
	}
	done.Store(true)
	wg.Wait()
	if now := volumetest.Size(t, v); now > before/4 {
		t.Errorf("%d bytes, before %d", now, before)
	}
	other := volumetest.Again(t, v, nil)
	_, err = gone.WriteString(", and written")
	must.Do(t, err)
	got, err := io.ReadAll(io.NewSectionReader(gone, 0, 100))
	if string(got) != ", and written" {
		t.Errorf("%q, %v", got, err)
	}
	volumetest.WantFile(t, other, "kept", "kept")
	volumetest.WantClean(t, other)
}

// TestBackupLive copies a volume while other goroutines write. The copy must be of one moment, and
// a failed copy must leave no file.
func TestBackupLive(t *testing.T) {
	t.Parallel()
	v := volumetest.Empty(t)
	write := func(i int) error {
		return v.Update(t.Context(), func(tx *folio.Tx) error {
			data := bytes.Repeat([]byte{byte(i)}, 100_000+i)
			return errors.Join(tx.WriteFile("a", data, 0o644), tx.WriteFile("b", data, 0o644))
		})
	}
	must.Do(t, write(0))
	var wg sync.WaitGroup
	var done atomic.Bool
	wg.Go(func() {
		for i := 0; !done.Load(); i++ {
			if err := write(i); err != nil {
				t.Error(err)
				return
			}
		}
	})
	d := t.TempDir()
	for i := range 5 {
		name := filepath.Join(d, fmt.Sprint(i))
		must.Do(t, v.BackupFile(t.Context(), name, nil))
		copied := volumetest.Open(t, name)
		a, err := copied.ReadFile("a")
		must.Do(t, err)
		volumetest.WantFile(t, copied, "b", string(a))
		volumetest.WantClean(t, copied)
	}
	done.Store(true)
	wg.Wait()
	if err := v.BackupFile(t.Context(), filepath.Join(d, "0"), nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over another: %v", err)
	}
	full := errors.New("full")
	if err := v.Backup(t.Context(), refusing{full}); !errors.Is(err, full) {
		t.Errorf("to what refuses: %v", err)
	}
	if s := v.Stats(); s.Changes == 0 || s.GroupSize() < 1 || s.Pages*int64(s.PageSize) != volumetest.Size(t, v) {
		t.Errorf("%+v", s)
	}
}

type refusing struct{ err error }

func (w refusing) Write([]byte) (int, error) { return 0, w.err }

// TestMaintainReadOnly maintains a volume that cannot be changed, and a closed volume.
func TestMaintainReadOnly(t *testing.T) {
	t.Parallel()
	v := volumetest.Empty(t)
	must.Do(t, v.WriteFile("f", []byte("content"), 0o644))
	info, err := v.Info(t.Context())
	must.Do(t, err)
	must.Do(t, v.Close())
	for want, o := range map[error]*folio.Options{folio.ErrReadOnly: {ReadOnly: true}, fs.ErrClosed: nil} {
		v, err := folio.Open(info.Path, o)
		must.Do(t, err)
		if want == fs.ErrClosed {
			must.Do(t, v.Close())
		}
		for name, err := range map[string]error{
			"Compact": v.Compact(t.Context(), nil), "Repair": must.Second(v.Repair(t.Context())), "Merge": v.Merge(t.Context(), mergeSource, "x", nil),
		} {
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", name, err, want)
			}
		}
		if err := v.Backup(t.Context(), io.Discard); (err == nil) != (want == folio.ErrReadOnly) {
			t.Errorf("Backup: %v", err)
		}
		_ = v.Close()
	}
}
