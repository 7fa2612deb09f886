//go:build unix

package osfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/internal/osfile"
)

func TestReplaceDurablyKeepsPermissions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "x")
	write(t, name)
	if err := os.Chmod(name, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := osfile.ReplaceDurably(temporary(t, dir, "new"), name); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// A link stays a link to the file that was replaced; PlaceDurably takes it for a file in the way.
func TestReplaceDurablyThroughLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink("x", link); err != nil {
		t.Fatal(err)
	}
	if err := osfile.PlaceDurably(temporary(t, dir, "new"), link); !errors.Is(err, fs.ErrExist) {
		t.Errorf("PlaceDurably over a link: %v", err)
	}
	wantFiles(t, dir, "link")
	if err := osfile.ReplaceDurably(temporary(t, dir, "new"), link); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, dir, "link", "x")
	wantContent(t, filepath.Join(dir, "x"), "new")
}

func TestReplaceDurablyRefusesDevice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("cannot make a pipe:", err)
	}
	err := osfile.ReplaceDurably(temporary(t, dir, "new"), pipe)
	wantPathError(t, err, "rename", pipe, osfile.ErrNotRegular)
	wantFiles(t, dir, "pipe")
}

// The way for file systems that cannot refuse to replace.
func TestRenameByLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	write(t, from)
	if err := osfile.RenameByLink(from, to); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, dir, "to")
	write(t, from)
	if err := osfile.RenameByLink(from, to); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file: %v", err)
	}
	wantFiles(t, dir, "from", "to")
}
