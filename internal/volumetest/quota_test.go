package volumetest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/race"
	"github.com/foliofs/folio/internal/random"
)

// TestQuota writes more than a volume may hold, in every way. The old files must stay.
func TestQuota(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	t.Parallel()
	const size = 1 << 20
	v := Limited(t, size)
	old, much := []byte("what was there"), bytes.Repeat([]byte("much"), size/2)
	must.Do(t, v.WriteFile("old", old, 0o644))
	f, err := v.OpenFile("old", os.O_RDWR|os.O_APPEND, 0)
	must.Do(t, err)
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
	WantFull(t, "ReadFrom", err)
	must.Do(t, f.Truncate(int64(len(old))))
	if n == 0 || n > size {
		t.Errorf("ReadFrom: %d bytes", n)
	}
	WantFull(t, "WriteFile", v.WriteFile("old", much, 0o644))
	WantFull(t, "WriteFile of a new one", v.WriteFile("new", much, 0o644))
	WantFull(t, "Write", must.Second(f.Write(much)))
	WantFull(t, "Update", v.Update(t.Context(), fill))
	WantFull(t, "an error that is passed over", v.Update(t.Context(), func(tx *folio.Tx) error {
		_ = tx.WriteFile("new", much, 0o644)
		return nil
	}))
	WantFull(t, "SetXattr", v.Update(t.Context(), func(tx *folio.Tx) error {
		for i := range 100 {
			if err := tx.SetXattr("old", fmt.Sprint("user.", i), much[:1<<16]); err != nil {
				return err
			}
		}
		return nil
	}))
	WantFile(t, v, "old", string(old))
	WantNone(t, v, "new")
	WantNone(t, v, "dir0")
	WantWithin(t, v, size)
	WantClean(t, v)
}

// TestQuotaRoom fills a volume and empties it again: removing always works, and makes room at once.
func TestQuotaRoom(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	t.Parallel()
	const size = 4 << 20
	v := Limited(t, size)
	r := random.New(t)
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
		WantFull(t, "WriteFile", err)
		for name, bytes := range files {
			if r.IntN(4) > 0 || stored > size/3 {
				must.Do(t, v.Remove(name))
				delete(files, name)
				stored -= bytes
			}
		}
		must.Do(t, v.WriteFile("half", make([]byte, size/2), 0o644))
		must.Do(t, v.Remove("half"))
	}
	WantWithin(t, v, size)
	WantClean(t, v)
	for name := range files {
		must.Do(t, v.Remove(name))
	}
	must.Do(t, v.WriteFile("all", make([]byte, size*9/10), 0o644))
}

// TestQuotaCrowd fills a volume from many goroutines, whose small changes might share transactions.
// Acknowledged changes must be there, and failed ones must not.
func TestQuotaCrowd(t *testing.T) {
	t.Parallel()
	const size, writers = 256 << 10, 16
	v := Limited(t, size)
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
				WantFull(t, name, err)
			}
		})
	}
	wg.Wait()
	WantWithin(t, v, size)
	all := 0
	for w := range writers {
		for i := range written[w] {
			name := fmt.Sprint(w, "-", i)
			WantFile(t, v, name, name)
		}
		all += written[w]
	}
	list, err := v.ReadDir(".")
	must.Do(t, err)
	if len(list) != all || all == 0 {
		t.Errorf("%d files, want the %d that were acknowledged", len(list), all)
	}
	WantClean(t, v)
}

// TestQuotaPinned counts files that are removed but open.
func TestQuotaPinned(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	v := Limited(t, size)
	content := make([]byte, size*3/4)
	_, _ = rand.NewChaCha8([32]byte{}).Read(content)
	must.Do(t, v.WriteFile("f", content, 0o644))
	f, err := v.Open("f")
	must.Do(t, err)
	must.Do(t, v.Remove("f"))
	WantFull(t, "while it is open", v.WriteFile("g", content, 0o644))
	got := make([]byte, len(content))
	if _, err := f.ReadAt(got, 0); err != nil || !bytes.Equal(got, content) {
		t.Error("what is open was lost", err)
	}
	must.Do(t, f.Close())
	must.Do(t, v.WriteFile("g", content, 0o644))
	WantClean(t, v)
}

// TestQuotaBelow opens a volume that is larger than it may be.
func TestQuotaBelow(t *testing.T) {
	t.Parallel()
	v := Empty(t)
	must.Do(t, v.WriteFile("f", make([]byte, 1<<20), 0o644))
	info, err := v.Info(t.Context())
	must.Do(t, err)
	must.Do(t, v.Close())
	v, err = folio.Open(info.Path, &folio.Options{MaxSize: 1})
	must.Do(t, err)
	defer v.Close()
	WantFull(t, "WriteFile", v.WriteFile("g", make([]byte, 1<<20), 0o644))
	must.Do(t, v.WriteFile("f", make([]byte, 1<<19), 0o644))
	must.Do(t, v.WriteFile("g", make([]byte, 1<<18), 0o644))
	must.Do(t, v.RemoveAll("f"))
	WantWithin(t, v, info.Size)
	WantClean(t, v)
}
