package volumetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/blocked"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/random"
)

// together calls fn from several goroutines, through three connections, each so many times.
func together(t *testing.T, v *folio.Volume, goroutines, times int, fn func(v *folio.Volume, g, i int) error) {
	t.Helper()
	all := []*folio.Volume{v, Again(t, v, nil), Again(t, v, nil)}
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range times {
				if err := fn(all[g%len(all)], g, i); err != nil {
					t.Errorf("goroutine %d, %d: %v", g, i, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestLockFiles lets a file that only one can make guard a counter, in all the ways in which
// programs do that.
func TestLockFiles(t *testing.T) {
	t.Parallel()
	const goroutines, times = 6, 25
	for name, lock := range map[string]func(v *folio.Volume, who string) error{
		"O_EXCL": func(v *folio.Volume, _ string) error {
			f, err := v.OpenFile("lock", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
			if err == nil {
				err = f.Close()
			}
			return err
		},
		"Mkdir":   func(v *folio.Volume, _ string) error { return v.Mkdir("lock", 0o755) },
		"Symlink": func(v *folio.Volume, who string) error { return v.Symlink(who, "lock") },
		"Link": func(v *folio.Volume, who string) error {
			if err := v.WriteFile(who, nil, 0o644); err != nil {
				return err
			}
			return v.Link(who, "lock")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := Empty(t)
			must.Do(t, v.WriteFile("counter", []byte("0"), 0o644))
			together(t, v, goroutines, times, func(v *folio.Volume, g, _ int) error {
				err := fs.ErrExist
				for errors.Is(err, fs.ErrExist) {
					err = lock(v, fmt.Sprint("by ", g))
				}
				if err != nil {
					return err
				}
				return errors.Join(count(v), v.Remove("lock"))
			})
			WantFile(t, v, "counter", fmt.Sprint(goroutines*times))
			WantClean(t, v)
		})
	}
}

// count adds one to a number in a file, in two calls.
func count(v *folio.Volume) error {
	p, err := v.ReadFile("counter")
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(string(p))
	if err != nil {
		return err
	}
	return v.WriteFile("counter", []byte(strconv.Itoa(n+1)), 0o644)
}

// TestTokens lets many goroutines take files from one directory to others by Rename: each file must
// be taken once.
func TestTokens(t *testing.T) {
	t.Parallel()
	const goroutines, tokens = 6, 60
	v := Empty(t)
	must.Do(t, v.Mkdir("free", 0o755))
	for i := range tokens {
		must.Do(t, v.WriteFile(fmt.Sprint("free/", i), nil, 0o644))
	}
	var mu sync.Mutex // guards taken
	taken := make(map[int]int)
	together(t, v, goroutines, tokens, func(v *folio.Volume, g, i int) error {
		err := errors.Join(v.MkdirAll(fmt.Sprint("of ", g), 0o755), v.Rename(fmt.Sprint("free/", i), fmt.Sprint("of ", g, "/", i)))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		taken[i]++
		return err
	})
	for i := range tokens {
		if taken[i] != 1 {
			t.Errorf("token %d was taken %d times", i, taken[i])
		}
	}
	list, err := v.ReadDir("free")
	if err != nil || len(list) > 0 {
		t.Errorf("%d tokens are left, %v", len(list), err)
	}
	WantClean(t, v)
}

// TestCrowd lets many goroutines make, move, write and remove the same few files. No call may fail
// for a reason that the other goroutines cannot have given it, and the volume must be sound.
func TestCrowd(t *testing.T) {
	t.Parallel()
	v := Empty(t)
	r := random.New(t)
	callers := make([]*crashCaller, 8)
	for g := range callers {
		callers[g] = &crashCaller{Rand: random.From(r)}
	}
	together(t, v, len(callers), 150, func(v *folio.Volume, g, i int) error {
		if i%10 == 0 {
			err := v.Update(context.Background(), func(tx *folio.Tx) error {
				(&crashCaller{Rand: callers[g].Rand}).call(tx)
				(&crashCaller{Rand: callers[g].Rand}).call(tx)
				return errRollback
			})
			if !errors.Is(err, errRollback) {
				return err
			}
		}
		callers[g].call(v)
		return nil
	})
	WantClean(t, v)
	for _, c := range callers {
		must.Do(t, c.closeAll())
	}
	WantClean(t, v)
	must.Do(t, v.RemoveAll("a"))
	report, err := v.Check(t.Context(), nil)
	must.Do(t, err)
	inos := make(map[uint64]bool)
	if _, err := StateOf(Again(t, v, nil), ".", inos); err != nil || int64(len(inos)) > report.Nodes {
		t.Errorf("%d inodes, of which %d have a name, %v", report.Nodes, len(inos), err)
	}
}

// TestWritesTakeTurns writes to one handle from several goroutines: each write gets a place of its
// own, and the offset ends behind them all.
func TestWritesTakeTurns(t *testing.T) {
	t.Parallel()
	const goroutines, times, line = 6, 50, len("0 00\n")
	for _, flag := range []int{0, os.O_APPEND} {
		v := Empty(t)
		f, err := v.OpenFile("f", os.O_RDWR|os.O_CREATE|flag, 0o644)
		must.Do(t, err)
		together(t, v, goroutines, times, func(_ *folio.Volume, g, i int) error {
			_, err := fmt.Fprintf(f, "%d %02d\n", g, i)
			return errors.Join(err, must.Second(f.Seek(0, io.SeekCurrent)), must.Second(f.Stat()))
		})
		off, err := f.Seek(0, io.SeekCurrent)
		if err != nil || off != goroutines*times*int64(line) {
			t.Errorf("offset %d, %v", off, err)
		}
		p, err := v.ReadFile("f")
		must.Do(t, err)
		next := make([]int, goroutines)
		for l := range strings.Lines(string(p)) {
			var g, i int
			if _, err := fmt.Sscanf(l, "%d %d\n", &g, &i); err != nil || next[g] != i {
				t.Fatalf("%q, %v; want line %d of %d", l, err, next[g], g)
			}
			next[g]++
		}
		if slices.Min(next) != times {
			t.Errorf("%v lines", next)
		}
		must.Do(t, f.Close())
	}
}

// TestFailedWriteStays writes more than there is room for: the offset stays.
func TestFailedWriteStays(t *testing.T) {
	t.Parallel()
	v := Limited(t, 1<<20)
	for _, flag := range []int{0, os.O_APPEND} {
		f, err := v.OpenFile("f", os.O_RDWR|os.O_CREATE|flag, 0o644)
		must.Do(t, err)
		must.Do(t, must.Second(f.Write([]byte("old"))))
		before, err := f.Seek(0, io.SeekCurrent)
		must.Do(t, err)
		WantFull(t, "Write", must.Second(f.Write(bytes.Repeat([]byte("large"), 1<<20))))
		if off, err := f.Seek(0, io.SeekCurrent); off != before || err != nil {
			t.Errorf("offset %d, %v; want %d", off, err, before)
		}
		must.Do(t, f.Close())
	}
}

// TestTimesInOrder changes files while a transaction runs. A change that has waited for the
// transaction must be younger than its changes.
func TestTimesInOrder(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 100_000} {
		v := Empty(t)
		var wg sync.WaitGroup
		must.Do(t, v.Update(t.Context(), func(tx *folio.Tx) error {
			wg.Go(func() {
				if err := v.WriteFile("waited", make([]byte, size), 0o644); err != nil {
					t.Error(err)
				}
			})
			blocked.Wait(t, "TestTimesInOrder", "WriteFile", "(*updates).wait")
			return tx.WriteFile("first", nil, 0o644)
		}))
		wg.Wait()
		first, err := v.Stat("first")
		must.Do(t, err)
		waited, err := v.Stat("waited")
		must.Do(t, err)
		if waited.ModTime().Before(first.ModTime()) {
			t.Errorf("%d bytes: %v older than what was there", size, first.ModTime().Sub(waited.ModTime()))
		}
	}
}
