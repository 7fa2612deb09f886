package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A sparseContent is "data" at some offsets. Its holes cannot be read.
type sparseContent struct {
	io.ReaderAt
	at []int64
}

func (s sparseContent) NextData(off, size int64) (start, end int64, err error) {
	for _, at := range s.at {
		if at+4 > off {
			return max(off, at), at + 4, nil
		}
	}
	return size, size, nil
}

func (s sparseContent) ReadAt(p []byte, off int64) (int, error) {
	for _, at := range s.at {
		if off >= at && off+int64(len(p)) <= at+4 {
			return copy(p, "data"[off-at:]), nil
		}
	}
	return 0, fmt.Errorf("%d bytes at %d are no data", len(p), off)
}

// Holes that a content knows are not read, and nothing is written for them.
func TestKnownHoles(t *testing.T) {
	t.Parallel()
	const size = 1 << 38
	dir := t.TempDir()
	attr := fileAttr(0o600, 0)
	attr.Size, attr.Holes = size, true
	err := writeTree(t, dir, &WriteOptions{}, nil, func(w *Writer) error {
		if err := w.addFile("part", attr, sparseContent{at: []int64{1 << 16, 1 << 37}}); err != nil {
			return err
		}
		return w.addFile("hole", attr, sparseContent{})
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"part": "data", "hole": "\x00\x00\x00\x00"} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for _, off := range []int64{1 << 16, 1 << 37} {
			var p [4]byte
			if _, err := f.ReadAt(p[:], off); err != nil || string(p[:]) != want {
				t.Errorf("%s at %d: %q, %v", name, off, p, err)
			}
		}
		if info, err := f.Stat(); err != nil || info.Size() != size {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

type liar struct {
	io.ReaderAt
	start, end int64
}

func (l liar) NextData(off, size int64) (start, end int64, err error) { return l.start, l.end, nil }

// Ranges that lead back or beyond the end make an error, and no file.
func TestWrongRanges(t *testing.T) {
	t.Parallel()
	attr := fileAttr(0o600, 2*arenaSize)
	attr.Holes = true
	dir, content := t.TempDir(), strings.NewReader(strings.Repeat("x", 2*arenaSize))
	for _, l := range []liar{{content, 0, 0}, {content, -1, 5}, {content, 5, 4}, {content, 0, 2*arenaSize + 1}, {content, 7, 8}} {
		err := writeTree(t, dir, &WriteOptions{}, nil, func(w *Writer) error { return w.addFile("f", attr, l) })
		if err == nil {
			t.Errorf("%d to %d: no error", l.start, l.end)
		}
		if _, err := os.Lstat(filepath.Join(dir, "f")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%d to %d: %v", l.start, l.end, err)
		}
	}
}
