package osfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/foliofs/folio/internal/osfile"
)

// temporary makes a temporary file with some content.
func temporary(t *testing.T, dir, content string) *osfile.File {
	t.Helper()
	tmp, err := osfile.CreateTemp(dir, ".x-*.tmp")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tmp.WriteAt([]byte(content), 0); err != nil {
		t.Fatal(err)
	}
	return tmp
}

// wantFiles checks that the directory holds exactly these names.
func wantFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the directory holds %v, want %v", got, want)
	}
}

func wantContent(t *testing.T, name, want string) {
	t.Helper()
	if got, err := os.ReadFile(name); string(got) != want || err != nil {
		t.Errorf("%s holds %q, %v; want %q", name, got, err, want)
	}
}

func TestCreateTemp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for pattern, glob := range map[string]string{"a-*.tmp": "a-?*.tmp", "b": "b?*", "c*d*e": "c[*]d?*e"} {
		if runtime.GOOS == "windows" && pattern == "c*d*e" {
			continue // no name there has an asterisk
		}
		tmp, err := osfile.CreateTemp(dir, pattern)
		if err != nil {
			t.Fatal(err)
		}
		if ok, _ := filepath.Match(glob, filepath.Base(tmp.Name())); !ok {
			t.Errorf("pattern %q gave %s", pattern, tmp.Name())
		}
		if err := tmp.Discard(); err != nil {
			t.Error(err)
		}
	}
	wantFiles(t, dir)
	_, err := osfile.CreateTemp(filepath.Join(dir, "none"), "x")
	wantPathError(t, err, "createtemp", filepath.Join(dir, "none"), fs.ErrNotExist)
}

func TestCreateScratch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := osfile.CreateScratch(dir)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" {
		wantFiles(t, dir)
	}
	p := make([]byte, 1)
	if _, err := f.WriteAt([]byte{7}, page); err != nil {
		t.Error(err)
	}
	if _, err := f.ReadAt(p, page); err != nil || p[0] != 7 {
		t.Error(p, err)
	}
	if err := f.Discard(); err != nil {
		t.Error(err)
	}
	wantFiles(t, dir)
}

func TestPlaceDurably(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "x")
	if err := osfile.PlaceDurably(temporary(t, dir, "first"), name); err != nil {
		t.Fatal(err)
	}
	err := osfile.PlaceDurably(temporary(t, dir, "second"), name)
	wantPathError(t, err, "rename", name, fs.ErrExist)
	wantFiles(t, dir, "x")
	wantContent(t, name, "first")
}

func TestReplaceDurably(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "x")
	for _, content := range []string{"first", "second"} {
		tmp := temporary(t, dir, content)
		if err := osfile.ReplaceDurably(tmp, name); err != nil {
			t.Fatal(err)
		}
		if err := tmp.Discard(); err != nil {
			t.Error(err)
		}
		wantContent(t, name, content)
	}
	wantFiles(t, dir, "x")
}

// A replacement that fails leaves the old file as it was, and no other file.
func TestReplaceDurablyFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{"d": osfile.ErrNotRegular, "none/x": fs.ErrNotExist} {
		if err := osfile.ReplaceDurably(temporary(t, dir, "new"), filepath.Join(dir, name)); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", name, err, want)
		}
	}
	closed := temporary(t, dir, "new")
	if err := closed.Discard(); err != nil {
		t.Fatal(err)
	}
	if err := osfile.ReplaceDurably(closed, filepath.Join(dir, "x")); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a closed file: %v", err)
	}
	wantFiles(t, dir, "d")
}

// replaceRole replaces a file without end, by contents that are all of one letter.
func replaceRole(args []string) error {
	fmt.Println("ok")
	for i := 0; ; i++ {
		tmp, err := osfile.CreateTemp(filepath.Dir(args[0]), ".x-*.tmp")
		if err != nil {
			return err
		}
		if _, err := tmp.WriteAt(bytes.Repeat([]byte{byte('a' + i%26)}, page), 0); err != nil {
			return err
		}
		if err := osfile.ReplaceDurably(tmp, args[0]); err != nil {
			return err
		}
	}
}

// A process that opens the name while it is replaced, or after the replacing process was killed,
// sees one whole content.
func TestReplaceDurablyIsAtomic(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(name, bytes.Repeat([]byte{'a'}, page), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		p := start(t, "replace", name)
		for range 50 {
			checkWhole(t, name)
		}
		p.kill()
		checkWhole(t, name)
	}
}

// beingReplaced reports whether a file could not be opened as Windows is replacing it: that system
// keeps others out for a moment.
func beingReplaced(err error) bool {
	const sharingViolation = syscall.Errno(32)
	return runtime.GOOS == "windows" && errors.Is(err, sharingViolation)
}

func checkWhole(t *testing.T, name string) {
	t.Helper()
	got, err := os.ReadFile(name)
	for beingReplaced(err) {
		got, err = os.ReadFile(name)
	}
	if err != nil || len(got) != page || bytes.Count(got, got[:1]) != page {
		t.Errorf("a mixed content of %d bytes, %v", len(got), err)
	}
}
