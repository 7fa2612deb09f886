//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/sqlitefile"
)

var coherenceFor = flag.Duration("coherence.for", 3*time.Second, "how long TestCoherence runs")

// TestCoherence changes a volume by the library, by rows, by a second mount and by the mount
// itself, and compares after each change everything that the mount shows with everything that the
// library reads. The kernel has all of it in its caches before each change.
func TestCoherence(t *testing.T) {
	c := newCoherence(t)
	var seen []time.Duration
	for start := time.Now(); time.Since(start) < *coherenceFor; {
		what := c.change()
		seen = append(seen, c.settle(what))
	}
	c.mount.stop()
	t.Log(c.mount.stats)
	slices.Sort(seen)
	t.Logf("%d changes, seen after %v (median), %v (99 of 100), %v (last)", len(seen), seen[len(seen)/2], seen[len(seen)*99/100], seen[len(seen)-1])
}

// A coherence is a volume that is mounted twice and open in this process.
type coherence struct {
	t             *testing.T
	rng           *rand.Rand
	mount, second *daemon
	vol           *folio.Volume
	raw           *sqlitefile.DB
}

func newCoherence(t *testing.T) *coherence {
	c := &coherence{t: t, rng: rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))}
	path := newVolume(t)
	c.mount = startDaemon(t, path)
	c.second = startDaemon(t, path)
	var err error
	c.vol, err = folio.Open(path, nil)
	must.Do(t, err)
	t.Cleanup(func() { _ = c.vol.Close() })
	c.raw, err = sqlitefile.Open(path, nil)
	must.Do(t, err)
	t.Cleanup(func() { _ = c.raw.Close() })
	must.Do(t, c.vol.MkdirAll("a/b/c", 0o755))
	must.Do(t, c.vol.Mkdir("d", 0o755))
	for range 300 {
		must.Do(t, c.vol.WriteFile(c.name(), c.content(), 0o644))
	}
	return c
}

// name returns the name of a file that may be there.
func (c *coherence) name() string {
	return filepath.Join([]string{".", "a", "a/b", "a/b/c", "d"}[c.rng.IntN(5)], fmt.Sprintf("file%0*d", 1+c.rng.IntN(30), c.rng.IntN(40)))
}

func (c *coherence) content() []byte {
	return bytes.Repeat([]byte{byte('a' + c.rng.IntN(26))}, c.rng.IntN(1<<(1+c.rng.IntN(17))))
}

// change makes one change, and returns what it was.
func (c *coherence) change() (what string) {
	name, other := c.name(), c.name()
	at := func(d *daemon, name string) string { return d.path(name) }
	var err error
	switch n := c.rng.IntN(15); n {
	case 0, 1:
		what, err = "library: write "+name, c.vol.WriteFile(name, c.content(), 0o644)
	case 2:
		what, err = "library: remove "+name, c.vol.Remove(name)
	case 3:
		what, err = "library: rename "+name+" "+other, c.vol.Rename(name, other)
	case 4:
		what, err = "library: chmod "+name, c.vol.Chmod(name, fs.FileMode(0o600+c.rng.IntN(64)))
	case 5:
		what, err = "library: write in "+name, c.patch(name)
	case 6:
		what, err = "rows: content", c.raw.Update(context.Background(), c.rawContent)
	case 7:
		what, err = "rows: mode", c.raw.Update(context.Background(), c.rawMode)
	case 8, 9:
		d := []*daemon{c.mount, c.second}[n-8]
		what, err = d.dir+": write "+name, os.WriteFile(at(d, name), c.content(), 0o644)
	case 10:
		what, err = "second: remove "+name, os.Remove(at(c.second, name))
	case 11:
		what, err = "second: rename "+name+" "+other, os.Rename(at(c.second, name), at(c.second, other))
	case 12:
		what, err = "library: many", c.many()
	case 14:
		what, err = c.sql()
	case 13:
		what, err = "mount: rename "+name+" "+other, os.Rename(at(c.mount, name), at(c.mount, other))
	}
	if err != nil && !os.IsNotExist(err) && !os.IsExist(err) {
		c.t.Errorf("%s: %v", what, err)
	}
	return what
}

// sql makes a change by the sqlite3 shell, if that is there.
func (c *coherence) sql() (what string, err error) {
	shell, err := exec.LookPath("sqlite3")
	if err != nil {
		return "", nil
	}
	statements := []string{
		"update node set mode = mode & ~63 | abs(random() % 64), mtime_ns = mtime_ns + 1 where ino in (select ino from node where ino > 1 order by random() limit 3)",
		"update data set bytes = replace(bytes, substr(bytes, 1, 1), 'X') where id in (select id from data order by random() limit 2)",
		"update entry set name = name || 's' where name in (select name from entry where type = 1 order by random() limit 2) and length(name) < 200",
		"delete from entry where name in (select name from entry where type = 1 order by random() limit 2)",
		"vacuum",
	}
	n := c.rng.IntN(len(statements))
	if n == len(statements)-1 && c.rng.IntN(4) > 0 {
		n = 0
	}
	out, err := exec.Command(shell, "-cmd", ".timeout 5000", c.mount.volume, statements[n]).CombinedOutput()
	if strings.Contains(string(out), "UNIQUE constraint failed") || strings.Contains(string(out), "locked") {
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return "sqlite3: " + statements[n], err
}

// patch writes into the middle of a file.
func (c *coherence) patch(name string) error {
	f, err := c.vol.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	_, err = f.WriteAt([]byte("patch"), c.rng.Int64N(info.Size()))
	return err
}

// many makes or removes many files at once, so that pages split and merge.
func (c *coherence) many() error {
	return c.vol.Update(context.Background(), func(tx *folio.Tx) error {
		if c.rng.IntN(2) == 0 {
			for i := range 1 + c.rng.IntN(200) {
				if err := tx.WriteFile(fmt.Sprintf("d/many%d", i*7%200), c.content()[:0], 0o644); err != nil {
					return err
				}
			}
			return nil
		}
		for i := range 200 {
			if err := tx.RemoveAll(fmt.Sprintf("d/many%d", i)); err != nil {
				return err
			}
		}
		return nil
	})
}

// anyRow calls fn with the rowid of some row of a table.
func (c *coherence) anyRow(tx *sqlitefile.Tx, table string, fn func(t *sqlitefile.TableWriter, row sqlitefile.Row) error) error {
	t, err := tx.Table(table)
	if err != nil {
		return err
	}
	last, ok, err := t.LastRowid()
	if err != nil || !ok {
		return err
	}
	cur := t.Cursor()
	if ok, err = cur.SeekRowid(c.rng.Int64N(last) + 1); err != nil || !ok {
		return err
	}
	row, err := cur.Row()
	if err != nil {
		return err
	}
	return fn(&t, row)
}

// rawContent overwrites a part of a content, and leaves its inode as it is.
func (c *coherence) rawContent(tx *sqlitefile.Tx) error {
	return c.anyRow(tx, "data", func(t *sqlitefile.TableWriter, row sqlitefile.Row) error {
		size, err := row.Size(1)
		if err != nil || size < 4 {
			return err
		}
		return t.WriteAt(row.Rowid(), 1, fmt.Appendf(nil, "%04d", c.rng.IntN(10000)), c.rng.Int64N(size-3))
	})
}

// rawMode sets the mode and the time of an inode.
func (c *coherence) rawMode(tx *sqlitefile.Tx) error {
	return c.anyRow(tx, "node", func(t *sqlitefile.TableWriter, row sqlitefile.Row) error {
		values := make([]any, row.Len())
		for i := range values {
			v, err := row.Value(i)
			if err != nil {
				return err
			}
			values[i] = v
		}
		mode, err := row.Int64(1)
		if err != nil {
			return err
		}
		values[1], values[7] = mode&^0o77|c.rng.Int64N(64), c.rng.Int64N(1<<60)
		_, err = t.Update(row.Rowid(), values...)
		return err
	})
}

// settle returns after what time the mount shows everything as the library does. Time that the
// comparison itself takes does not count.
func (c *coherence) settle(what string) time.Duration {
	c.t.Helper()
	c.mount.alive()
	want := c.library()
	start := time.Now()
	var got map[string]string
	var last string
	for {
		began := time.Since(start)
		c.mount.within(10*time.Second, "reading the mount", func() { got = c.mounted() })
		if difference(got, want) == "" {
			if began > 100*time.Millisecond {
				c.t.Logf("%s: until %v the mount showed %s", what, began, last)
			}
			return began
		}
		last = difference(got, want)
		if began > 2*time.Second {
			c.t.Fatalf("%s: after %v the mount still shows %s", what, began, difference(got, want))
		}
	}
}

func difference(got, want map[string]string) string {
	for name := range got {
		if got[name] != want[name] {
			return fmt.Sprintf("%s as %.100q, not %.100q", name, got[name], want[name])
		}
	}
	for name := range want {
		if _, ok := got[name]; !ok {
			return fmt.Sprintf("no %s", name)
		}
	}
	return ""
}

// library returns everything that the library reads.
func (c *coherence) library() map[string]string {
	all := make(map[string]string)
	must.Do(c.t, c.vol.View(context.Background(), func(rx *folio.Rx) error {
		return fs.WalkDir(rx.FS(), ".", func(name string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			var b []byte
			if info.Mode().IsRegular() {
				b, err = rx.ReadFile(name)
			}
			all[name] = fmt.Sprintf("%v %v %d %s", info.Mode(), info.ModTime().UnixNano(), sizeOf(info), b)
			return err
		})
	}))
	return all
}

func sizeOf(info fs.FileInfo) int64 {
	if info.IsDir() {
		return 0
	}
	return info.Size()
}

// mounted returns everything that the mount shows. Errors are a part of it.
func (c *coherence) mounted() map[string]string {
	all := make(map[string]string)
	for i := range 40 { // names that are not there are known to the kernel as well
		_, _ = os.Lstat(c.mount.path(fmt.Sprintf("d/file%d", i)))
	}
	_ = filepath.WalkDir(c.mount.dir, func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(c.mount.dir, path)
		if err != nil {
			all[name] = err.Error()
			return nil
		}
		info, err := os.Lstat(path)
		if err != nil {
			all[name] = err.Error()
			return nil
		}
		var b string
		if info.Mode().IsRegular() {
			if b, err = readAll(path); err != nil {
				b = err.Error()
			}
		}
		all[name] = fmt.Sprintf("%v %v %d %s", info.Mode(), info.ModTime().UnixNano(), sizeOf(info), b)
		return nil
	})
	return all
}

// TestUnlinkedOpen removes files that a program has open.
func TestUnlinkedOpen(t *testing.T) {
	d := startDaemon(t, newVolume(t))
	f, err := os.Create(d.path("file"))
	must.Do(t, err)
	defer f.Close()
	_, err = f.WriteString("content")
	must.Do(t, err)
	must.Do(t, os.Remove(d.path("file")))
	_, err = f.WriteAt([]byte("C"), 0)
	must.Do(t, err)
	b := make([]byte, 10)
	if n, _ := f.ReadAt(b, 0); string(b[:n]) != "Content" {
		t.Errorf("got %q", b[:n])
	}
	info, err := f.Stat()
	must.Do(t, err)
	if nlink := info.Sys().(*syscall.Stat_t).Nlink; nlink != 0 {
		t.Errorf("nlink is %d", nlink)
	}
}

// TestUnlinkedElsewhere removes a file that a program has open by another process, which closes the
// volume at once.
func TestUnlinkedElsewhere(t *testing.T) {
	d := startDaemon(t, newVolume(t))
	second := startDaemon(t, d.volume)
	content := bytes.Repeat([]byte("content "), 1<<15)
	for i := range 20 {
		name := fmt.Sprint("file", i)
		must.Do(t, os.WriteFile(second.path(name), content, 0o644))
		var f *os.File
		for start := time.Now(); f == nil && time.Since(start) < time.Second; {
			f, _ = os.Open(d.path(name))
		}
		if f == nil {
			t.Fatal("the mount does not show the file")
		}
		if i%2 == 0 {
			vol, err := folio.Open(d.volume, nil)
			must.Do(t, err)
			must.Do(t, vol.Remove(name))
			must.Do(t, vol.Close())
		} else {
			must.Do(t, os.Remove(second.path(name)))
		}
		eventually(t, "the name is gone", func() bool {
			_, err := os.Lstat(d.path(name))
			return errors.Is(err, fs.ErrNotExist)
		})
		got := make([]byte, len(content))
		if _, err := f.ReadAt(got, 0); err != nil || !bytes.Equal(got, content) {
			t.Errorf("file %d, removed by another process: %v", i, err)
		}
		must.Do(t, f.Close())
	}
	second.stop()
	d.stop()
	vol, err := folio.Open(d.volume, nil)
	must.Do(t, err)
	defer vol.Close()
	info, err := vol.Info(context.Background())
	must.Do(t, err)
	if used := info.Size - info.FreeBytes; used > int64(len(content)) {
		t.Errorf("%d bytes are in use", used)
	}
}

// TestLatency measures how long the mount shows something that another process has changed, with
// everything in the caches of the kernel.
func TestLatency(t *testing.T) {
	d := startDaemon(t, newVolume(t))
	vol, err := folio.Open(d.volume, nil)
	must.Do(t, err)
	defer vol.Close()
	must.Do(t, vol.WriteFile("file", []byte("0000"), 0o644))
	for _, pause := range []time.Duration{0, 3 * time.Millisecond, 50 * time.Millisecond, 1200 * time.Millisecond} {
		var seen []time.Duration
		for i := range 100 {
			if pause > time.Second && i == 5 {
				break
			}
			want := fmt.Sprintf("%04d", i+1)
			must.Do(t, vol.WriteFile("file", []byte(want), 0o644))
			start := time.Now()
			for {
				got, err := readAll(d.path("file"))
				if err == nil && got == want {
					break
				}
				if time.Since(start) > 2*time.Second {
					t.Fatalf("after %v the mount shows %q, %v", time.Since(start), got, err)
				}
			}
			seen = append(seen, time.Since(start))
			time.Sleep(pause)
		}
		slices.Sort(seen)
		t.Logf("every %v: median %v, last %v", pause, seen[len(seen)/2], seen[len(seen)-1])
	}
}
