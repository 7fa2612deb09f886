package volumetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/roottest"
)

// ReadAll reads a file through its methods.
func ReadAll(t *testing.T, v *folio.Volume, name string) string {
	t.Helper()
	f, err := v.Open(name)
	must.Do(t, err)
	defer func() { must.Do(t, f.Close()) }()
	p, err := io.ReadAll(f)
	must.Do(t, err)
	return string(p)
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
	return describe(s, name, func(n *folio.Node) { inos[n.Ino] = true })
}

// describe describes the tree at name, with the inodes as see leaves them.
func describe(s Snapshot, name string, see func(n *folio.Node)) (string, error) {
	info, err := s.Lstat(name)
	if err != nil {
		return "", err
	}
	attrs, err := s.Xattrs(name)
	if err != nil {
		return "", err
	}
	node := *info.Sys().(*folio.Node)
	see(&node)
	text := fmt.Sprintf("%s %+v %q", name, node, attrs)
	switch {
	case info.Mode().IsRegular():
		p, err := s.ReadFile(name)
		if err != nil || int64(len(p)) != node.Size {
			return "", fmt.Errorf("%s: %d bytes of %d, %w", name, len(p), node.Size, err)
		}
		return text + roottest.Hash(p) + "\n", nil
	case info.IsDir():
		list, err := s.ReadDir(name)
		text += "\n"
		for _, e := range list {
			below, belowErr := describe(s, name+"/"+e.Name(), see)
			text, err = text+below, errors.Join(err, belowErr)
		}
		return text, err
	}
	target, err := s.Readlink(name)
	return text + target + "\n", err
}

// PlainText describes the tree of a volume without the numbers of inodes and times, and without
// holes unless these are wanted.
func PlainText(t *testing.T, v *folio.Volume, holes bool) (text string) {
	t.Helper()
	must.Do(t, v.View(t.Context(), func(rx *folio.Rx) (err error) {
		text, err = describe(rx, ".", func(n *folio.Node) {
			n.Ino, n.Mtime, n.Ctime, n.Atime = 0, 0, 0, 0
			if !holes {
				n.Holes = 0
			}
		})
		return err
	}))
	return text
}

// TreeOf returns the text of a whole volume, as [TreeText] does.
func TreeOf(t *testing.T, v *folio.Volume) string {
	t.Helper()
	text, err := StateOf(v, ".", map[uint64]bool{})
	must.Do(t, err)
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
