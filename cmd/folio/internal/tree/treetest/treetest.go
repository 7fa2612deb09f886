// Package treetest helps the tests of packages that read and write trees.
package treetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// Collect walks a source and returns a line for each entry: name, mode, owner if not 0:0, and what
// it holds or leads to.
func Collect(src tree.Source) (lines []string, err error) {
	err = src.Walk(context.Background(), func(e *tree.Entry) error {
		line, err := Describe(e)
		lines = append(lines, line)
		return err
	})
	return lines, errors.Join(err, src.Close())
}

// Describe returns the line of an entry.
func Describe(e *tree.Entry) (string, error) {
	if e.Link != "" {
		return fmt.Sprintf("%s == %s", e.Name, e.Link), nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %v", e.Name, e.Mode)
	switch e.Mode.Type() {
	case 0:
		data := e.Data
		if e.Content != nil {
			var err error
			if data, err = io.ReadAll(e.Content); err != nil {
				return b.String(), err
			}
		}
		if int64(len(data)) != e.Size {
			return b.String(), fmt.Errorf("%s: %d bytes, announced %d", e.Name, len(data), e.Size)
		}
		fmt.Fprintf(&b, " %s", brief(data))
	case fs.ModeSymlink:
		fmt.Fprintf(&b, " -> %s", e.Linkname)
	case fs.ModeDevice, fs.ModeDevice | fs.ModeCharDevice:
		fmt.Fprintf(&b, " %#x", e.Rdev)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Xattrs)) {
		fmt.Fprintf(&b, " %s=%s", name, e.Xattrs[name])
	}
	return b.String(), nil
}

// brief shows a long content by its length and whether it is all of one byte.
func brief(p []byte) string {
	switch {
	case len(p) < 100:
		return fmt.Sprintf("%q", p)
	case bytes.Count(p, p[:1]) == len(p):
		return fmt.Sprintf("%dx%q", len(p), p[:1])
	}
	return fmt.Sprintf("%d bytes", len(p))
}

// WantLines compares what collect returned.
func WantLines(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// Sample returns the entries of a small tree, which belong to the user of the test.
func Sample() []*tree.Entry {
	at := time.Unix(1e9, 123456789)
	entry := func(name string, mode fs.FileMode, data string) *tree.Entry {
		e := &tree.Entry{Data: []byte(data), Content: strings.NewReader(data), Size: int64(len(data))}
		e.Header = folio.Header{Name: name, Mode: mode, ModTime: at, AccessTime: at, ChangeTime: at}
		e.UID, e.GID = uint32(max(0, os.Getuid())), uint32(max(0, os.Getgid()))
		return e
	}
	link := entry("l", fs.ModeSymlink|0o777, "")
	link.Linkname = "a/f"
	return []*tree.Entry{
		entry(".", fs.ModeDir|0o700, ""), entry("a", fs.ModeDir|0o755, ""), entry("a/f", 0o644, "content"),
		entry("g", 0o600, strings.Repeat("long", 1<<20)), link,
	}
}

// Fill adds the entries of Sample to a sink, and finishes it. It returns their lines, sorted.
func Fill(to tree.Sink) (lines []string, err error) {
	for _, e := range Sample() {
		if err := to.Add(e); err != nil {
			return nil, err
		}
	}
	for _, e := range Sample() {
		line, err := Describe(e)
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines, to.Finish()
}

// WantSample reads a source, and compares it with the lines that Fill has returned.
func WantSample(t *testing.T, src tree.Source, lines []string) {
	t.Helper()
	got, err := Collect(src)
	if err != nil {
		t.Error(err)
	}
	slices.Sort(got)
	WantLines(t, got, lines)
}
