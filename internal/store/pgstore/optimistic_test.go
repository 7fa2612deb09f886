//go:build unix

package pgstore_test

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store/pgstore"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
)

// TestGuesses makes changes in a directory in which the Store has made one before. They need not
// read.
func TestGuesses(t *testing.T) {
	t.Parallel()
	s := open(t, pgserver.Volume(t), nil)
	v, err := folio.OpenStore(private.Key{}, s, nil)
	must.Do(t, err)
	must.Do(t, v.MkdirAll("dir/below", 0o755))
	pgstore.BreakWalks(s)
	for _, change := range []struct {
		name string
		do   func() error
	}{
		{"create", func() error { return v.WriteFile("dir/below/a", []byte("old"), 0o644) }},
		{"replace", func() error { return v.WriteFile("dir/below/a", []byte("longer than before"), 0o644) }},
		{"link", func() error { return v.Link("dir/below/a", "dir/b") }},
		{"create another one", func() error { return v.WriteFile("dir/d", nil, 0o644) }},
		{"rename over it", func() error { return v.Rename("dir/d", "dir/below/a") }},
		{"rename to a new name", func() error { return v.Rename("dir/b", "dir/c") }},
		{"chmod", func() error { return v.Chmod("dir/c", 0o600) }},
		{"chtimes", func() error { return v.Chtimes("dir/c", time.Now(), time.Now()) }},
		{"symlink", func() error { return v.Symlink("c", "dir/link") }},
		{"mkdir", func() error { return v.Mkdir("dir/sub", 0o755) }},
		{"create in it", func() error { return v.WriteFile("dir/sub/file", nil, 0o644) }},
		{"remove", func() error { return v.Remove("dir/c") }},
	} {
		if err := change.do(); err != nil {
			t.Fatalf("%s: %v", change.name, err)
		}
	}
	if err := v.WriteFile("dir/link/file", nil, 0o644); err == nil {
		t.Error("a change through a symbolic link has not read it")
	}
	checkWell(t, v)
}

// TestWrongGuesses changes a volume by one Store behind the back of another one, whose next call
// must not rely on what it remembers.
func TestWrongGuesses(t *testing.T) {
	t.Parallel()
	address := pgserver.Volume(t)
	v, other := volume(t, address), volume(t, address)
	for i, c := range []struct {
		name   string
		behind func(d string) error
		call   func(d string) error
		want   error
		after  string // the content of the file "a" of the directory; "" for none
	}{
		{
			"the directory was moved",
			func(d string) error { return other.Rename(d, d+"-moved") },
			func(d string) error { return v.WriteFile(d+"/b", nil, 0o644) }, fs.ErrNotExist, "",
		},
		{
			"the directory was replaced",
			func(d string) error { return errors.Join(other.Rename(d, d+"-moved"), other.Mkdir(d, 0o755)) },
			func(d string) error { return v.WriteFile(d+"/a", []byte("here"), 0o644) }, nil, "here",
		},
		{
			"the directory was removed",
			func(d string) error { return other.RemoveAll(d) },
			func(d string) error { return v.WriteFile(d+"/a", nil, 0o644) }, fs.ErrNotExist, "",
		},
		{
			"the directory has become a symbolic link",
			func(d string) error { return errors.Join(other.Rename(d, d+"-moved"), other.Symlink(d+"-moved", d)) },
			func(d string) error { return v.WriteFile(d+"/a", []byte("there"), 0o644) }, nil, "there",
		},
		{
			"the name was taken",
			func(d string) error { return other.WriteFile(d+"/b", nil, 0o644) },
			func(d string) error { return v.Mkdir(d+"/b", 0o755) }, fs.ErrExist, "first",
		},
		{
			"the file was removed",
			func(d string) error { return other.Remove(d + "/a") },
			func(d string) error { return v.Rename(d+"/a", d+"/b") }, fs.ErrNotExist, "",
		},
		{
			"the file was removed and is made",
			func(d string) error { return other.Remove(d + "/a") },
			func(d string) error { return v.WriteFile(d+"/a", []byte("new"), 0o644) }, nil, "new",
		},
		{
			"the file has grown",
			func(d string) error { return other.WriteFile(d+"/a", []byte("a longer content"), 0o644) },
			func(d string) error { return v.Chmod(d+"/a", 0o600) }, nil, "a longer content",
		},
		{
			"the file was replaced",
			func(d string) error {
				return errors.Join(other.WriteFile(d+"/b", []byte("another"), 0o644), other.Rename(d+"/b", d+"/a"))
			},
			func(d string) error { return v.Link(d+"/a", d+"/c") }, nil, "another",
		},
		{
			"the directory is not empty any more",
			func(d string) error {
				return errors.Join(other.WriteFile(d+"/a", []byte("in"), 0o644), other.WriteFile(d+"/empty/b", nil, 0o644))
			},
			func(d string) error { return v.Remove(d + "/empty") }, folio.ErrNotEmpty, "in",
		},
	} {
		d := fmt.Sprint(i)
		must.Do(t, errors.Join(v.Mkdir(d, 0o755), v.Mkdir(d+"/empty", 0o755), v.WriteFile(d+"/a", []byte("first"), 0o644), c.behind(d)))
		if err := c.call(d); !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		content, err := other.ReadFile(d + "/a")
		if c.after == "" && !errors.Is(err, fs.ErrNotExist) || c.after != "" && string(content) != c.after {
			t.Errorf("%s: the file has %q, %v, want %q", c.name, content, err, c.after)
		}
	}
	checkWell(t, other)
}

// TestGuessesTogether lets goroutines of two Stores take names in one directory from each other.
// Each name is taken once.
func TestGuessesTogether(t *testing.T) {
	t.Parallel()
	const names = 300
	address := pgserver.Volume(t)
	volumes := []*folio.Volume{volume(t, address), volume(t, address)}
	must.Do(t, volumes[0].Mkdir("dir", 0o755))
	var mu sync.Mutex
	taken := make(map[string]int)
	var wg sync.WaitGroup
	for g := range 8 {
		v := volumes[g%2]
		wg.Go(func() {
			for i := range names {
				name := fmt.Sprint("dir/", (i+g*37)%names)
				switch err := v.Mkdir(name, 0o755); {
				case err == nil:
					mu.Lock()
					taken[name]++
					mu.Unlock()
				case !errors.Is(err, fs.ErrExist):
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	wg.Wait()
	for name, n := range taken {
		if n != 1 {
			t.Errorf("%s was made %d times", name, n)
		}
	}
	info, err := volumes[0].Stat("dir")
	must.Do(t, err)
	if n := info.Sys().(*folio.Node).Nlink; n != names+2 || len(taken) != names {
		t.Errorf("%d names were taken, and the directory has %d links, want %d and %d", len(taken), n, names, names+2)
	}
	checkWell(t, volumes[1])
}

// TestGuessedTimes sets the time of a directory by one Store while another one remembers what it
// was.
func TestGuessedTimes(t *testing.T) {
	t.Parallel()
	address := pgserver.Volume(t)
	v, other := volume(t, address), volume(t, address)
	mtime := func() time.Time {
		info, err := other.Stat("dir")
		must.Do(t, err)
		return info.ModTime()
	}
	past, future := time.Unix(1e9, 7), time.Unix(1e10, 7)
	must.Do(t, errors.Join(v.Mkdir("dir", 0o755), v.Chtimes("dir", past, past)))
	must.Do(t, errors.Join(other.WriteFile("dir/a", nil, 0o644), v.Chtimes("dir", past, past)))
	if got := mtime(); !got.Equal(past) {
		t.Errorf("%v, want the time that was set a second time, %v", got, past)
	}
	must.Do(t, v.WriteFile("dir/b", nil, 0o644))
	must.Do(t, errors.Join(other.Chtimes("dir", past, future), v.WriteFile("dir/c", nil, 0o644)))
	if got := mtime(); time.Since(got).Abs() > time.Hour {
		t.Errorf("%v, want the time of the file that was made last", got)
	}
}

// TestGuessAfterRestart ends all connections of a Store, as a server does that restarts, and makes
// a change at once that the Store would guess. It is made on a new connection: its outcome is
// known, because nothing of it was sent before.
func TestGuessAfterRestart(t *testing.T) {
	t.Parallel()
	address := pgserver.ForTest(t).Address("restarted")
	v, sql := volume(t, address), connect(t, address)
	must.Do(t, v.Mkdir("dir", 0o755))
	for i := range 20 {
		must.Do(t, v.WriteFile(fmt.Sprintf("dir/before%d", i), nil, 0o644))
		_, err := sql.Exec(t.Context(), "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")
		must.Do(t, err)
		if err := v.WriteFile(fmt.Sprintf("dir/after%d", i), []byte("new"), 0o644); err != nil {
			t.Fatalf("the change after restart %d: %v", i, err)
		}
	}
	checkWell(t, v)
}
