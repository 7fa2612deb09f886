package folio_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/foliofs/folio"
)

// together calls fn from several goroutines, through three connections, each so many times.
func together(t *testing.T, v *folio.FS, goroutines, times int, fn func(v *folio.FS, g, i int) error) {
	t.Helper()
	all := []*folio.FS{v, again(t, v, nil), again(t, v, nil)}
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

// TestLockFiles lets a file that only one can make guard a counter, in all the ways in which programs do that.
func TestLockFiles(t *testing.T) {
	t.Parallel()
	const goroutines, times = 6, 25
	for name, lock := range map[string]func(v *folio.FS, who string) error{
		"O_EXCL": func(v *folio.FS, _ string) error {
			f, err := v.OpenFile("lock", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
			if err == nil {
				err = f.Close()
			}
			return err
		},
		"Mkdir":   func(v *folio.FS, _ string) error { return v.Mkdir("lock", 0o755) },
		"Symlink": func(v *folio.FS, who string) error { return v.Symlink(who, "lock") },
		"Link": func(v *folio.FS, who string) error {
			if err := v.WriteFile(who, nil, 0o644); err != nil {
				return err
			}
			return v.Link(who, "lock")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := empty(t)
			must(t, v.WriteFile("counter", []byte("0"), 0o644))
			together(t, v, goroutines, times, func(v *folio.FS, g, _ int) error {
				err := fs.ErrExist
				for errors.Is(err, fs.ErrExist) {
					err = lock(v, fmt.Sprint("by ", g))
				}
				if err != nil {
					return err
				}
				return errors.Join(count(v), v.Remove("lock"))
			})
			wantFile(t, v, "counter", fmt.Sprint(goroutines*times))
			wantClean(t, v)
		})
	}
}

// count adds one to a number in a file, in two calls.
func count(v *folio.FS) error {
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

// TestTokens lets many take files from one directory to others by Rename: each is taken once.
func TestTokens(t *testing.T) {
	t.Parallel()
	const goroutines, tokens = 6, 60
	v := empty(t)
	must(t, v.Mkdir("free", 0o755))
	for i := range tokens {
		must(t, v.WriteFile(fmt.Sprint("free/", i), nil, 0o644))
	}
	var mu sync.Mutex // guards taken
	taken := make(map[int]int)
	together(t, v, goroutines, tokens, func(v *folio.FS, g, i int) error {
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
	wantClean(t, v)
}

// TestCrowd lets many make, move, write and remove the same few files: no call fails for a reason that nobody could have given it, and what is left
// is sound.
func TestCrowd(t *testing.T) {
	t.Parallel()
	v := empty(t)
	r := random(t)
	callers := make([]*crashCaller, 8)
	for g := range callers {
		callers[g] = &crashCaller{Rand: randomFrom(r)}
	}
	together(t, v, len(callers), 150, func(v *folio.FS, g, i int) error {
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
	wantClean(t, v)
	for _, c := range callers {
		must(t, c.closeAll())
	}
	wantClean(t, v)
	must(t, v.RemoveAll("a"))
	report, err := v.Check(t.Context())
	must(t, err)
	inos := make(map[uint64]bool)
	if _, err := stateOf(again(t, v, nil), ".", inos); err != nil || int64(len(inos)) > report.Nodes {
		t.Errorf("%d inodes, of which %d have a name, %v", report.Nodes, len(inos), err)
	}
}

// TestWriteWaits uses a file in every way that changes nothing, while a change of it waits for its turn: these ways do not wait. Close is the last.
func TestWriteWaits(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(f *folio.File) error{
		"Write":      func(f *folio.File) error { return second(f.Write([]byte("new"))) },
		"many bytes": func(f *folio.File) error { return second(f.Write(make([]byte, 1<<20))) },
		"WriteAt":    func(f *folio.File) error { return second(f.WriteAt([]byte("new"), 1)) },
		"Truncate":   func(f *folio.File) error { return f.Truncate(1) },
		"Chmod":      func(f *folio.File) error { return f.Chmod(0o600) },
		"Chown":      func(f *folio.File) error { return f.Chown(1, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := empty(t)
			must(t, v.WriteFile("f", []byte("old"), 0o644))
			f, err := v.OpenFile("f", os.O_RDWR, 0)
			must(t, err)
			must(t, v.Remove("f"))
			done := make(chan error)
			must(t, v.Update(t.Context(), func(*folio.Tx) error {
				go func() { done <- change(f) }()
				for !f.Changing() {
					runtime.Gosched()
				}
				p := make([]byte, 3)
				_, err := f.Seek(0, io.SeekStart)
				return errors.Join(err, second(f.Read(p)), second(f.ReadAt(p, 0)), second(f.Stat()), f.Close())
			}))
			must(t, <-done)
			if err := f.Chmod(0o644); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("Chmod after Close: %v", err)
			}
			if r, err := v.Check(t.Context()); err != nil || !r.OK() || r.Nodes != 1 {
				t.Errorf("%+v, %v: the file was not let go of", r, err)
			}
		})
	}
}

// TestWritesTakeTurns writes to one handle from several goroutines: each write gets a place of its own, and the offset ends behind them all.
func TestWritesTakeTurns(t *testing.T) {
	t.Parallel()
	const goroutines, times, line = 6, 50, len("0 00\n")
	for _, flag := range []int{0, os.O_APPEND} {
		v := empty(t)
		f, err := v.OpenFile("f", os.O_RDWR|os.O_CREATE|flag, 0o644)
		must(t, err)
		together(t, v, goroutines, times, func(_ *folio.FS, g, i int) error {
			_, err := fmt.Fprintf(f, "%d %02d\n", g, i)
			return errors.Join(err, second(f.Seek(0, io.SeekCurrent)), second(f.Stat()))
		})
		off, err := f.Seek(0, io.SeekCurrent)
		if err != nil || off != goroutines*times*int64(line) {
			t.Errorf("offset %d, %v", off, err)
		}
		p, err := v.ReadFile("f")
		must(t, err)
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
		must(t, f.Close())
	}
}

// TestFailedWriteStays writes more than there is room for: the offset stays.
func TestFailedWriteStays(t *testing.T) {
	t.Parallel()
	v := limitedVolume(t, 1<<20)
	for _, flag := range []int{0, os.O_APPEND} {
		f, err := v.OpenFile("f", os.O_RDWR|os.O_CREATE|flag, 0o644)
		must(t, err)
		must(t, second(f.Write([]byte("old"))))
		before, err := f.Seek(0, io.SeekCurrent)
		must(t, err)
		wantFull(t, "Write", second(f.Write(bytes.Repeat([]byte("large"), 1<<20))))
		if off, err := f.Seek(0, io.SeekCurrent); off != before || err != nil {
			t.Errorf("offset %d, %v; want %d", off, err, before)
		}
		must(t, f.Close())
	}
}

// TestTimesInOrder changes files while a transaction runs: what has waited for it is younger than what it did.
func TestTimesInOrder(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 100_000} {
		v := empty(t)
		var wg sync.WaitGroup
		must(t, v.Update(t.Context(), func(tx *folio.Tx) error {
			wg.Go(func() {
				if err := v.WriteFile("waited", make([]byte, size), 0o644); err != nil {
					t.Error(err)
				}
			})
			time.Sleep(20 * time.Millisecond) // it waits by now
			return tx.WriteFile("first", nil, 0o644)
		}))
		wg.Wait()
		first, err := v.Stat("first")
		must(t, err)
		waited, err := v.Stat("waited")
		must(t, err)
		if waited.ModTime().Before(first.ModTime()) {
			t.Errorf("%d bytes: %v older than what was there", size, first.ModTime().Sub(waited.ModTime()))
		}
	}
}
