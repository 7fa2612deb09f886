package disk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/treetest"
)

// A copier is a Differ that takes everything, as if there were nothing to compare with.
type copier struct {
	t      *testing.T
	looked atomic.Int64
	dirs   []string // in the order of Compare
	lines  []string // what Apply got, as describe has it
	errs   []string // of entries
	before func(entries []*tree.Entry)
	fail   error // of Scan
	skip   bool  // add nothing
	open   int   // how many directories were, at most
}

// A seen is a Comparison of a copier: the path of the directory.
type seen string

func (seen) HasDir(string) bool { return false }

func (c *copier) Scan(d *Dir) (Comparison, error) {
	if d.Up != nil && d.Up.Comparison == nil {
		c.t.Errorf("%s is looked at before the directory that it is in", d.Path)
	}
	c.looked.Add(1)
	return seen(d.Path), c.fail
}

func (c *copier) Compare(d *Dir, out *Out) error {
	c.dirs = append(c.dirs, d.Path)
	if d.Comparison != seen(d.Path) {
		c.t.Errorf("%s is compared before it is looked at", d.Path)
	}
	if d.Err != nil {
		c.errs = append(c.errs, d.Path+": "+d.Err.Error())
	}
	d.scan.handles.mu.Lock()
	c.open = max(c.open, len(d.scan.handles.open))
	d.scan.handles.mu.Unlock()
	for i := range d.Files {
		if c.skip {
			break
		}
		f := &d.Files[i]
		e := &tree.Entry{Header: f.Header(), Err: f.Err}
		e.Name = f.Path()
		add := out.Add
		if f.Err == nil && f.Mode().IsRegular() {
			add = func(e *tree.Entry) error { return out.AddContent(f, e) }
		}
		if err := add(e); err != nil {
			return err
		}
	}
	return nil
}

func (c *copier) Apply(entries []*tree.Entry) error {
	if c.before != nil {
		c.before(entries)
	}
	for i, e := range entries {
		if e.Content != nil && i < len(entries)-1 {
			c.t.Errorf("%s is not the last entry", e.Name)
		}
		line, err := "", e.Err
		if err == nil {
			line, err = treetest.Describe(e)
		}
		if err != nil {
			c.errs = append(c.errs, e.Name+": "+err.Error())
			continue
		}
		c.lines = append(c.lines, line)
	}
	return nil
}

// diff copies a directory.
func diff(t *testing.T, ctx context.Context, dir string, c *copier) error {
	t.Helper()
	tree, err := OpenDir(dir, &tree.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	c.t = t
	err = Diff(ctx, tree, c)
	if c.open > maxHandles {
		t.Errorf("%d directories are open", c.open)
	}
	return err
}

// Diff finds what Walk finds, in more directories than stay open.
func TestDiffFindsAll(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 3 * maxHandles {
		sub := fmt.Sprintf("%d/%d/%d", i%7, i%30, i)
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, dir, sub+"/f", int64(i%3))
		if i%100 == 0 {
			write(t, dir, sub+"/large", tree.SmallSize+int64(i))
		}
	}
	want, err := treetest.Collect(openTree(t, dir, nil))
	if err != nil {
		t.Fatal(err)
	}
	c := &copier{}
	if err := diff(t, t.Context(), dir, c); err != nil || len(c.errs) > 0 {
		t.Fatal(err, c.errs)
	}
	if !slices.IsSortedFunc(c.dirs, tree.CompareNames) || int(c.looked.Load()) != len(c.dirs) {
		t.Errorf("%d directories, %d were looked at", len(c.dirs), c.looked.Load())
	}
	slices.Sort(c.lines)
	want = want[1:] // without the root
	slices.Sort(want)
	treetest.WantLines(t, c.lines, want)
}

// TestDiffChanges damages one file: its error is reported, and the other files are still read.
func TestDiffChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeDense(t, dir, "a")
	for _, name := range []string{"b", "c", "d"} {
		write(t, dir, name, 3)
	}
	c := &copier{before: func(entries []*tree.Entry) {
		if entries[0].Name == "a" { // it is a stream, of which the beginning was read ahead
			if err := os.Truncate(filepath.Join(dir, "a"), large/2); err != nil {
				t.Error(err)
			}
		}
	}}
	if err := diff(t, t.Context(), dir, c); err != nil {
		t.Fatal(err)
	}
	treetest.WantLines(t, c.errs, []string{"a: " + tree.ErrChanged.Error()})
	if len(c.lines) != 3 {
		t.Errorf("got %q", c.lines)
	}
}

func TestDiffEnds(t *testing.T) {
	t.Parallel()
	dir, _ := manyLarge(t)
	own := errors.New("own")
	if err := diff(t, t.Context(), dir, &copier{fail: own}); !errors.Is(err, own) {
		t.Errorf("Scan failed: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	c := &copier{before: func([]*tree.Entry) { cancel(own) }}
	if err := diff(t, ctx, dir, c); !errors.Is(err, own) {
		t.Errorf("cancelled: %v", err)
	}
	c = &copier{skip: true, before: func([]*tree.Entry) { t.Error("something was added") }}
	ctx, cancel = context.WithCancelCause(t.Context())
	cancel(own)
	if err := diff(t, ctx, dir, c); !errors.Is(err, own) || len(c.dirs) > 0 {
		t.Errorf("nothing to do, cancelled: %v", err)
	}
	if _, err := OpenDir(filepath.Join(dir, "f00"), nil); !errors.Is(err, tree.ErrNotDir) {
		t.Errorf("a file: %v", err)
	}
}

// TestDiffSubdirectory finds a directory as it was listed, also where the system tells no identity.
func TestDiffSubdirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a", "b", "x"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &copier{t: t}
	if err := diff(t, t.Context(), dir, c); err != nil || len(c.errs) > 0 || len(c.dirs) != 3 {
		t.Errorf("%v, %v in %v", err, c.errs, c.dirs)
	}
}
