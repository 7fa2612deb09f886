//go:build unix

package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/store/pgstore"
	"github.com/foliofs/folio/store/pgstore/pgserver"
)

// volume opens a volume as a file system.
func volume(t testing.TB, address string) *folio.Volume {
	t.Helper()
	s, err := pgstore.Open(context.Background(), address, &pgstore.Options{Create: true, MaxConns: 100})
	must(t, err)
	v, err := folio.OpenStore(s, nil)
	must(t, err)
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// TestFS lets package fstest judge the file system on the store.
func TestFS(t *testing.T) {
	t.Parallel()
	v := volume(t, pgserver.Volume(t))
	must(t, v.MkdirAll("a/b", 0o755))
	for _, name := range []string{"a/one", "a/b/two", "three"} {
		must(t, v.WriteFile(name, []byte(strings.Repeat(name, 100)), 0o644))
	}
	must(t, v.Symlink("b/two", "a/link"))
	must(t, fstest.TestFS(v.FS(), "a/one", "a/b/two", "a/link", "three"))
	must(t, v.View(context.Background(), func(rx *folio.Rx) error { return fstest.TestFS(rx.FS(), "a/one") }))
}

// mirrors is how many volumes TestMirror changes, all at once.
const mirrors = 4

// TestMirror makes the same calls on a volume on the server and on one of the engine, which
// TestMirror of package folio holds to os.Root.
func TestMirror(t *testing.T) {
	n := *calls
	if testing.Short() {
		n /= 50
	}
	for range mirrors {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			mirror(t, n/mirrors)
		})
	}
}

func mirror(t *testing.T, calls int) {
	r := random(t)
	got := &side{Volume: volume(t, pgserver.Volume(t))}
	v, err := folio.Open(t.TempDir()+"/want.folio", &folio.Options{Create: true})
	must(t, err)
	t.Cleanup(func() { _ = v.Close() })
	want := &side{Volume: v}
	var last []string
	for i := range calls {
		c := randomCall(r)
		a, b := c.do(got), c.do(want)
		last = append(last[max(0, len(last)-20):], c.name+": "+b)
		if a != b {
			t.Fatalf("after %d calls, %s\n got %s\nwant %s\nafter\n%s", i, c.name, a, b, strings.Join(last, "\n"))
		}
		if i%1000 == 999 || i == calls-1 {
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
	}
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
