package suite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/store/sqlstore"
)

// TestFolio runs the file system on the store: package fstest judges it, and random calls must have
// the same results as on the engine.
func (d *Driver) TestFolio(t *testing.T) {
	t.Run("fstest", func(t *testing.T) {
		t.Parallel()
		v := d.volume(t, filepath.Join(t.TempDir(), "test.folio"))
		must(t, v.MkdirAll("a/b", 0o755))
		for _, name := range []string{"a/one", "a/b/two", "three"} {
			must(t, v.WriteFile(name, []byte(strings.Repeat(name, 100)), 0o644))
		}
		must(t, v.Symlink("b/two", "a/link"))
		must(t, fstest.TestFS(v.FS(), "a/one", "a/b/two", "a/link", "three"))
		must(t, v.View(context.Background(), func(rx *folio.Rx) error { return fstest.TestFS(rx.FS(), "a/one") }))
	})
	t.Run("Same", func(t *testing.T) {
		t.Parallel()
		d.testSame(t)
	})
}

// volume opens a volume that it makes if need be.
func (d *Driver) volume(t testing.TB, path string) *folio.Volume {
	t.Helper()
	s, err := sqlstore.Open(d.Name, d.dsn(path), &sqlstore.Options{Create: true})
	must(t, err)
	v, err := folio.OpenStore(s, nil)
	must(t, err)
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// testSame makes the same calls on a volume in SQL and on one of the engine, which TestMirror of
// package folio holds to os.Root.
func (d *Driver) testSame(t *testing.T) {
	r := random(t)
	dir := t.TempDir()
	got := &side{Volume: d.volume(t, filepath.Join(dir, "got.folio"))}
	v, err := folio.Open(filepath.Join(dir, "want.folio"), &folio.Options{Create: true})
	must(t, err)
	t.Cleanup(func() { _ = v.Close() })
	want := &side{Volume: v}
	var last []string
	for i := range *calls {
		c := randomCall(r)
		a, b := c.do(got), c.do(want)
		last = append(last, c.name+": "+b)
		if a != b {
			t.Fatalf("after %d calls, %s\n got %s\nwant %s\nafter\n%s", i, c.name, a, b, strings.Join(last[max(0, i-20):], "\n"))
		}
		if i%200 == 199 || i == *calls-1 {
			if a, b := got.tree(), want.tree(); a != b {
				t.Fatalf("after %d calls, the trees differ:\n got %s\nwant %s", i, a, b)
			}
		}
	}
	got.close()
	want.close()
	for _, s := range []*side{got, want} {
		report, err := s.Check(context.Background(), nil)
		if err != nil || !report.OK() {
			t.Errorf("%v, %+v", err, report)
		}
		must(t, s.Close())
	}
	d.judge(t, filepath.Join(dir, "got.folio"))
}

// A side is one of two volumes, with the files that are open in it.
type side struct {
	*folio.Volume
	files [4]*folio.File
}

func (s *side) close() {
	for i, f := range s.files {
		if f != nil {
			_ = f.Close()
			s.files[i] = nil
		}
	}
}

// tree describes all that there is but times and the numbers of inodes.
func (s *side) tree() string {
	var b strings.Builder
	err := fs.WalkDir(s.FS(), ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := s.Lstat(name)
		if err != nil {
			return err
		}
		n := *info.Sys().(*folio.Node)
		n.Ino, n.Mtime, n.Ctime, n.Atime = 0, 0, 0, 0
		attrs, err := s.Xattrs(name)
		fmt.Fprintf(&b, "%s %+v %q %v ", name, n, attrs, err)
		if info.Mode().IsRegular() {
			p, err := s.ReadFile(name)
			fmt.Fprintf(&b, "%x %v", sum(p), err)
		}
		b.WriteByte('\n')
		return nil
	})
	fmt.Fprintln(&b, err)
	return b.String()
}

// sum is a short description of content.
func sum(p []byte) string {
	h := uint64(14695981039346656037)
	for _, c := range p {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return fmt.Sprintf("%d:%x", len(p), h)
}

// outcome describes the results of a call.
func outcome(err error, results ...any) string {
	return fmt.Sprint(append(results, " ", err)...)
}

var errUndo = errors.New("undo")

// undone makes calls in a transaction that is rolled back.
func (s *side) undone(name string, data []byte) error {
	err := s.Update(context.Background(), func(tx *folio.Tx) error {
		err := errors.Join(tx.WriteFile(name, data, 0o600), tx.RemoveAll("a"))
		if err != nil {
			return err
		}
		return errUndo
	})
	return err
}

// both makes two changes in one transaction.
func (s *side) both(name, other string, data []byte) error {
	return s.Update(context.Background(), func(tx *folio.Tx) error {
		if err := tx.WriteFile(name, data, 0o600); err != nil {
			return err
		}
		return tx.Rename(name, other)
	})
}

// reopen opens a file in place of another.
func (s *side) reopen(i int, name string, flag int) error {
	if s.files[i] != nil {
		_ = s.files[i].Close()
	}
	f, err := s.OpenFile(name, flag, 0o640)
	s.files[i] = f
	return err
}

// onFile calls fn with an open file.
func (s *side) onFile(i int, fn func(f *folio.File) string) string {
	if s.files[i] == nil {
		return "none"
	}
	return fn(s.files[i])
}

// readFrom reads as much as size bytes of a file from an offset on.
func readFrom(f *folio.File, size int, off int64) string {
	p := make([]byte, size)
	n, err := f.ReadAt(p, off)
	if err == io.EOF {
		return sum(p[:n]) + " EOF"
	}
	return outcome(err, sum(p[:n]))
}
