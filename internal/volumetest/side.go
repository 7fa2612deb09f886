package volumetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/foliofs/folio"
)

// Same makes the same random calls on two volumes, and compares the results, and the trees after
// each so many calls. In the end it checks both.
func Same(t *testing.T, r *rand.Rand, got, want *folio.Volume, calls, each int) {
	t.Helper()
	g, w := &Side{Volume: got}, &Side{Volume: want}
	var last []string
	for i := range calls {
		c := RandomCall(r)
		a, b := c.Do(g), c.Do(w)
		last = append(last[max(0, len(last)-20):], c.Name+": "+b)
		if a != b {
			t.Fatalf("after %d calls, %s\n got %s\nwant %s\nafter\n%s", i, c.Name, a, b, strings.Join(last, "\n"))
		}
		if i%each == each-1 || i == calls-1 {
			if a, b := g.Tree(), w.Tree(); a != b {
				t.Fatalf("after %d calls, the trees differ:\n got %s\nwant %s", i, a, b)
			}
		}
	}
	for _, s := range []*Side{g, w} {
		s.Close()
		WantClean(t, s.Volume)
	}
}

// A Side is one of two volumes, with the files that are open in it.
type Side struct {
	*folio.Volume
	files [4]*folio.File
}

// Close closes the files.
func (s *Side) Close() {
	for i, f := range s.files {
		if f != nil {
			_ = f.Close()
			s.files[i] = nil
		}
	}
}

// Tree describes all that there is but times and the numbers of inodes.
func (s *Side) Tree() string {
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
			fmt.Fprintf(&b, "%x %v", Hash(p), err)
		}
		b.WriteByte('\n')
		return nil
	})
	fmt.Fprintln(&b, err)
	return b.String()
}

// outcome describes the results of a call.
func outcome(err error, results ...any) string {
	return fmt.Sprint(append(results, " ", err)...)
}

var errUndo = errors.New("undo")

// undone makes calls in a transaction that is rolled back.
func (s *Side) undone(name string, data []byte) error {
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
func (s *Side) both(name, other string, data []byte) error {
	return s.Update(context.Background(), func(tx *folio.Tx) error {
		if err := tx.WriteFile(name, data, 0o600); err != nil {
			return err
		}
		return tx.Rename(name, other)
	})
}

// reopen opens a file in place of another.
func (s *Side) reopen(i int, name string, flag int) error {
	if s.files[i] != nil {
		_ = s.files[i].Close()
	}
	f, err := s.OpenFile(name, flag, 0o640)
	s.files[i] = f
	return err
}

// onFile calls fn with an open file.
func (s *Side) onFile(i int, fn func(f *folio.File) string) string {
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
		return Hash(p[:n]) + " EOF"
	}
	return outcome(err, Hash(p[:n]))
}
