package volumetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/foliofs/folio"
)

// SameTree compares two file systems: names, types, modes, times and contents.
func SameTree(t *testing.T, got, want fs.FS) {
	t.Helper()
	var names [2][]string
	for i, fsys := range []fs.FS{got, want} {
		Must(t, fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
			names[i] = append(names[i], name)
			return err
		}))
	}
	if !slices.Equal(names[0], names[1]) {
		t.Fatalf("%d names, want %d", len(names[0]), len(names[1]))
	}
	for _, name := range names[0] {
		SameFile(t, got, want, name)
	}
}

// SameFile compares one file of two file systems.
func SameFile(t *testing.T, got, want fs.FS, name string) {
	t.Helper()
	g, err := fs.Lstat(got, name)
	Must(t, err)
	w, err := fs.Lstat(want, name)
	Must(t, err)
	if g.Mode() != w.Mode() || !g.ModTime().Equal(w.ModTime()) || g.Name() != w.Name() {
		t.Errorf("%s: %v, want %v", name, g, w)
	}
	switch {
	case w.Mode().IsRegular():
		a, err := fs.ReadFile(got, name)
		Must(t, err)
		b, err := fs.ReadFile(want, name)
		Must(t, err)
		if !bytes.Equal(a, b) || g.Size() != int64(len(b)) {
			t.Errorf("%s: %d bytes, want %d; or other bytes", name, len(a), len(b))
		}
	case w.Mode()&fs.ModeSymlink != 0:
		a, err := fs.ReadLink(got, name)
		Must(t, err)
		if b, err := fs.ReadLink(want, name); err != nil || a != b {
			t.Errorf("%s: leads to %q, want %q, %v", name, a, b, err)
		}
	}
}

// ReadAll reads a file through its methods.
func ReadAll(t *testing.T, v *folio.Volume, name string) string {
	t.Helper()
	f, err := v.Open(name)
	Must(t, err)
	defer func() { Must(t, f.Close()) }()
	p, err := io.ReadAll(f)
	Must(t, err)
	return string(p)
}

// Difference returns the first lines that differ.
func Difference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("%s, want %s", a[i], b[i])
		}
	}
	return "one is longer"
}

// Hash returns the length and a checksum of p.
func Hash(p []byte) string {
	sum := uint64(len(p))
	for _, c := range p {
		sum = sum*1099511628211 + uint64(c)
	}
	return fmt.Sprintf("%d:%x", len(p), sum)
}

// A Snapshot is a volume, or a transaction of one, that is only read.
type Snapshot interface {
	Lstat(name string) (fs.FileInfo, error)
	ReadDir(name string) ([]fs.DirEntry, error)
	ReadFile(name string) ([]byte, error)
	Readlink(name string) (string, error)
	Xattrs(name string) (map[string][]byte, error)
}

// TreeText describes the tree at name: inodes to the last field, contents, targets and extended
// attributes. It adds the numbers of the inodes to inos.
func TreeText(s Snapshot, name string, inos map[uint64]bool) (string, error) {
	var b strings.Builder
	err := describeTree(&b, s, name, inos)
	return b.String(), err
}

func describeTree(b io.Writer, s Snapshot, name string, inos map[uint64]bool) error {
	info, err := s.Lstat(name)
	if err != nil {
		return err
	}
	node := info.Sys().(*folio.Node)
	attrs, err := s.Xattrs(name)
	if err != nil {
		return err
	}
	inos[node.Ino] = true
	fmt.Fprintf(b, "%s %+v %q", name, *node, attrs)
	switch {
	case info.Mode().IsRegular():
		p, err := s.ReadFile(name)
		if err != nil || int64(len(p)) != node.Size {
			return fmt.Errorf("%s: %d bytes of %d, %w", name, len(p), node.Size, err)
		}
		fmt.Fprintln(b, Hash(p))
	case info.IsDir():
		fmt.Fprintln(b)
		list, err := s.ReadDir(name)
		for _, e := range list {
			err = errors.Join(err, describeTree(b, s, name+"/"+e.Name(), inos))
		}
		return err
	default:
		target, err := s.Readlink(name)
		fmt.Fprintln(b, target)
		return err
	}
	return nil
}

// TreeOf returns the text of a whole volume, as [TreeText] does.
func TreeOf(t *testing.T, v *folio.Volume) string {
	t.Helper()
	text, err := StateOf(v, ".", map[uint64]bool{})
	Must(t, err)
	return text
}

// StateOf describes the directory top of a volume at one moment, as [TreeText] does.
func StateOf(v *folio.Volume, top string, inos map[uint64]bool) (text string, err error) {
	err = v.View(context.Background(), func(rx *folio.Rx) error {
		text, err = TreeText(rx, top, inos)
		return err
	})
	return text, err
}

// Names returns a list as text, a line for each entry.
func Names(list []fs.DirEntry, err error) (string, error) {
	var b strings.Builder
	for _, d := range list {
		fmt.Fprintln(&b, d)
	}
	return b.String(), err
}
