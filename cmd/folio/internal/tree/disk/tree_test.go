package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/treetest"
)

// A file is the entry ".", also one that looks like an archive, and so is a symbolic link; a
// directory comes with what is in it.
func TestOpenFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, err := range []error{
		os.MkdirAll(filepath.Join(dir, "d", "e"), 0o755),
		os.WriteFile(filepath.Join(dir, "d", "e", "f"), []byte("content"), 0o640),
		os.WriteFile(filepath.Join(dir, "zip"), []byte("PK\x03\x04"), 0o600),
		os.Symlink("d", filepath.Join(dir, "l")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	tree := []string{". drwxr-xr-x", "e drwxr-xr-x", `e/f -rw-r----- "content"`}
	for path, want := range map[string][]string{
		"zip": {`. -rw------- "PK\x03\x04"`}, "l": {". Lrwxrwxrwx -> d"}, "d/e/f": {`. -rw-r----- "content"`},
		"d": tree, "d/": tree, "d/.": tree, "d/e/..": tree, "l/": tree,
	} {
		src, err := OpenFile(dir+"/"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if size, ok := src.Size(t.Context()); !ok || path == "d" && size != 7 {
			t.Errorf("%s: %d bytes, %v", path, size, ok)
		}
		lines, err := treetest.Collect(src)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		treetest.WantLines(t, lines, want)
	}
	if _, err := OpenFile(filepath.Join(dir, "none"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// With Copies, every name of a file is a file.
func TestCopies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "b")); err != nil {
		t.Skip("no hard links:", err)
	}
	for _, copies := range []bool{false, true} {
		src, err := OpenFile(dir, &tree.Options{Copies: copies})
		if err != nil {
			t.Fatal(err)
		}
		want := `b -rw------- "x"`
		if !copies && runtime.GOOS != "windows" {
			want = "b == a"
		}
		if lines, err := treetest.Collect(src); err != nil || len(lines) != 3 || lines[2] != want {
			t.Errorf("%q, %v; want %s", lines, err, want)
		}
	}
}
