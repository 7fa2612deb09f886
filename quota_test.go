package folio_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/foliofs/folio"
)

// limitedVolume makes an empty volume whose file may have that many bytes.
func limitedVolume(t *testing.T, size int64) *folio.FS {
	t.Helper()
	v, err := folio.Open(filepath.Join(t.TempDir(), "test.folio"), &folio.Options{Create: true, MaxSize: size})
	must(t, err)
	t.Cleanup(func() { _ = v.Close() })
	return v
}

func wantFull(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, folio.ErrFull) || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%s: %v, want ErrFull", what, err)
	}
}

// wantWithin checks that a volume keeps its limit.
func wantWithin(t *testing.T, v *folio.FS, size int64) {
	t.Helper()
	info, err := v.Info(t.Context())
	must(t, err)
	if info.Size > size {
		t.Errorf("%d bytes of %d", info.Size, size)
	}
}

// TestQuota asks for more than a volume may hold, by every way to write. What was there stays.
func TestQuota(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	v := limitedVolume(t, size)
	old, much := []byte("what was there"), bytes.Repeat([]byte("much"), size/2)
	must(t, v.WriteFile("old", old, 0o644))
	f, err := v.OpenFile("old", os.O_RDWR|os.O_APPEND, 0)
	must(t, err)
	defer f.Close()
	fill := func(tx *folio.Tx) error {
		for i := range 100_000 {
			if err := tx.Mkdir(fmt.Sprint("dir", i), 0o755); err != nil {
				return err
			}
		}
		return nil
	}
	n, err := f.ReadFrom(bytes.NewReader(much))
	wantFull(t, "ReadFrom", err)
	must(t, f.Truncate(int64(len(old))))
	if n == 0 || n > size {
		t.Errorf("ReadFrom: %d bytes", n)
	}
	wantFull(t, "WriteFile", v.WriteFile("old", much, 0o644))
	wantFull(t, "WriteFile of a new one", v.WriteFile("new", much, 0o644))
	wantFull(t, "Write", second(f.Write(much)))
	wantFull(t, "Update", v.Update(t.Context(), fill))
	wantFull(t, "an error that is passed over", v.Update(t.Context(), func(tx *folio.Tx) error {
		_ = tx.WriteFile("new", much, 0o644)
		return nil
	}))
	wantFull(t, "SetXattr", v.Update(t.Context(), func(tx *folio.Tx) error {
		for i := range 100 {
			if err := tx.SetXattr("old", fmt.Sprint("user.", i), much[:1<<16]); err != nil {
				return err
			}
		}
		return nil
	}))
	wantFile(t, v, "old", string(old))
	wantNone(t, v, "new")
	wantNone(t, v, "dir0")
	wantWithin(t, v, size)
	wantClean(t, v)
}

// TestQuotaRoom fills a volume and empties it again: removing always works, and makes room at once.
func TestQuotaRoom(t *testing.T) {
	t.Parallel()
	const size = 4 << 20
	v := limitedVolume(t, size)
	r := random(t)
	files, stored := make(map[string]int), 0
	for round := range 20 {
		var err error
		for i := 0; err == nil; i++ {
			name, bytes := fmt.Sprint(round, "-", i), 1+r.IntN(1<<17)
			if err = v.WriteFile(name, make([]byte, bytes), 0o644); err == nil {
				files[name] = bytes
				stored += bytes
			}
		}
		wantFull(t, "WriteFile", err)
		for name, bytes := range files {
			if r.IntN(4) > 0 || stored > size/3 {
				must(t, v.Remove(name))
				delete(files, name)
				stored -= bytes
			}
		}
		must(t, v.WriteFile("half", make([]byte, size/2), 0o644))
		must(t, v.Remove("half"))
	}
	wantWithin(t, v, size)
	wantClean(t, v)
	for name := range files {
		must(t, v.Remove(name))
	}
	must(t, v.WriteFile("all", make([]byte, size*9/10), 0o644))
}

// TestQuotaCrowd fills a volume from many goroutines, whose small changes might share transactions: what was acknowledged is there, and what failed is not.
func TestQuotaCrowd(t *testing.T) {
	t.Parallel()
	const size, writers = 256 << 10, 16
	v := limitedVolume(t, size)
	var wg sync.WaitGroup
	var failed, written [writers]int
	for w := range writers {
		wg.Go(func() {
			for failed[w] < 3 {
				name := fmt.Sprint(w, "-", written[w])
				err := v.WriteFile(name, []byte(name), 0o644)
				if err == nil {
					written[w]++
					continue
				}
				failed[w]++
				wantFull(t, name, err)
			}
		})
	}
	wg.Wait()
	wantWithin(t, v, size)
	all := 0
	for w := range writers {
		for i := range written[w] {
			name := fmt.Sprint(w, "-", i)
			wantFile(t, v, name, name)
		}
		all += written[w]
	}
	list, err := v.ReadDir(".")
	must(t, err)
	if len(list) != all || all == 0 {
		t.Errorf("%d files, want the %d that were acknowledged", len(list), all)
	}
	wantClean(t, v)
}

// TestQuotaHeld counts what is removed but open.
func TestQuotaHeld(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	v := limitedVolume(t, size)
	content := make([]byte, size*3/4)
	_, _ = rand.NewChaCha8([32]byte{}).Read(content)
	must(t, v.WriteFile("f", content, 0o644))
	f, err := v.Open("f")
	must(t, err)
	must(t, v.Remove("f"))
	wantFull(t, "while it is open", v.WriteFile("g", content, 0o644))
	got := make([]byte, len(content))
	if _, err := f.ReadAt(got, 0); err != nil || !bytes.Equal(got, content) {
		t.Error("what is open was lost", err)
	}
	must(t, f.Close())
	must(t, v.WriteFile("g", content, 0o644))
	wantClean(t, v)
}

// TestQuotaBelow opens a volume that is larger than it may be.
func TestQuotaBelow(t *testing.T) {
	t.Parallel()
	v := empty(t)
	must(t, v.WriteFile("f", make([]byte, 1<<20), 0o644))
	info, err := v.Info(t.Context())
	must(t, err)
	must(t, v.Close())
	v, err = folio.Open(info.Path, &folio.Options{MaxSize: 1})
	must(t, err)
	defer v.Close()
	wantFull(t, "WriteFile", v.WriteFile("g", make([]byte, 1<<20), 0o644))
	must(t, v.WriteFile("f", make([]byte, 1<<19), 0o644))
	must(t, v.WriteFile("g", make([]byte, 1<<18), 0o644))
	must(t, v.RemoveAll("f"))
	wantWithin(t, v, info.Size)
	wantClean(t, v)
}
