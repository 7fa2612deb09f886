//go:build unix

package pgstore_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store/pgstore"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
)

// TestStaleness lets a reader see the past: never further back than it has allowed, and never
// without its own changes.
func TestStaleness(t *testing.T) {
	t.Parallel()
	const most, rounds = 200 * time.Millisecond, 300
	address := pgserver.Volume(t)
	writer := volume(t, address)
	reader := volumeAs(t, address, &pgstore.Options{MaxStaleness: most}, nil)
	must.Do(t, writer.WriteFile("f", nil, 0o644))
	var mu sync.Mutex
	var done []time.Time // when the file had got so many bytes, at the latest
	var wait sync.WaitGroup
	wait.Go(func() {
		for size := 1; size <= rounds; size++ {
			must.Do(t, truncate(writer, "f", int64(size)))
			mu.Lock()
			done = append(done, time.Now())
			mu.Unlock()
		}
	})
	defer wait.Wait()
	for last := int64(0); last < rounds; {
		begun := time.Now()
		info, err := reader.Stat("f")
		must.Do(t, err)
		mu.Lock()
		least := int64(0)
		for size := info.Size(); size < int64(len(done)) && begun.Sub(done[size]) > most; size++ {
			least = size + 1
		}
		mu.Unlock()
		if info.Size() < max(least, last) {
			t.Fatalf("%d bytes, want at least %d and %d", info.Size(), least, last)
		}
		last = info.Size()
	}
}

// TestStalenessForward lets several goroutines of one Store see the past. None sees what is older
// than what it saw before.
func TestStalenessForward(t *testing.T) {
	t.Parallel()
	const rounds = 400
	address := pgserver.Volume(t)
	writer := volume(t, address)
	reader := volumeAs(t, address, &pgstore.Options{MaxStaleness: 20 * time.Millisecond}, nil)
	must.Do(t, writer.WriteFile("f", nil, 0o644))
	var wait sync.WaitGroup
	for range 6 {
		wait.Go(func() {
			for last := int64(0); last < rounds; {
				info, err := reader.Stat("f")
				if err != nil || info.Size() < last {
					t.Errorf("%v bytes after %d, %v", info, last, err)
					return
				}
				last = info.Size()
			}
		})
	}
	for size := 1; size <= rounds; size++ {
		must.Do(t, truncate(writer, "f", int64(size)))
	}
	wait.Wait()
}

// TestStalenessOwn changes a file through a Store that may see the past.
func TestStalenessOwn(t *testing.T) {
	t.Parallel()
	address := pgserver.Volume(t)
	must.Do(t, volume(t, address).Mkdir("dir", 0o755))
	v := volumeAs(t, address, &pgstore.Options{MaxStaleness: time.Hour}, nil)
	for i := range 200 {
		name := "dir/" + strings.Repeat("x", i+1)
		_, err := v.Stat(name)
		if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		must.Do(t, v.WriteFile(name, make([]byte, i), 0o644))
		info, err := v.Stat(name)
		if err != nil || info.Size() != int64(i) {
			t.Fatalf("%v, %v", info, err)
		}
		list, err := v.ReadDir("dir")
		if err != nil || len(list) != i+1 {
			t.Fatalf("%d entries, %v", len(list), err)
		}
	}
	_, err := v.Stat("dir/x")
	must.Do(t, err)
	_, err = connect(t, address).Exec(context.Background(), "ALTER TABLE node RENAME TO gone")
	must.Do(t, err)
	if _, err := v.Stat("dir/x"); err != nil {
		t.Errorf("a file that was looked at before: %v", err)
	}
	if _, err := v.Stat("dir/xx"); err == nil {
		t.Error("another file was found in a server without inodes")
	}
}

// TestListener sees changes of another Store that have not to be seen for an hour, as soon as that
// Store has learned that there is a listener.
func TestListener(t *testing.T) {
	t.Parallel()
	address := pgserver.Volume(t) + "&max_staleness=1h"
	reader := volumeAs(t, address, &pgstore.Options{Create: true}, nil)
	writer := volumeAs(t, address, &pgstore.Options{Lease: 300 * time.Millisecond}, nil)
	must.Do(t, writer.Mkdir("dir", 0o755))
	_, err := reader.Stat("dir")
	must.Do(t, err)
	eventually(t, func() bool {
		must.Do(t, writer.Update(context.Background(), func(tx *folio.Tx) error { return tx.Chmod("dir", 0o700) }))
		must.Do(t, writer.Chmod("dir", 0o755))
		must.Do(t, writer.Chmod("dir", 0o711))
		info, err := reader.Stat("dir")
		must.Do(t, err)
		return info.Mode().Perm() == 0o711
	})
}
