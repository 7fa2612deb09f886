package aferofs_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/spf13/afero"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/adapter/aferofs"
	"github.com/foliofs/folio/adapter/internal/volumes"
)

func TestNames(t *testing.T) {
	files := aferofs.New(volumes.New(t))
	if err := files.MkdirAll("/a/b", os.ModePerm|os.ModeDir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"/a/b/file", "a/b/file", "//a//b/../b/file"} {
		f, err := files.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name() != name {
			t.Errorf("the file has the name %q, want %q", f.Name(), name)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"", "/", ".", "/."} {
		if list, err := afero.ReadDir(files, name); err != nil || len(list) != 1 || list[0].Name() != "a" {
			t.Errorf("ReadDir(%q): %v, %v", name, list, err)
		}
	}
	if _, err := files.Stat("/../etc/passwd"); !errors.Is(err, folio.ErrEscapes) {
		t.Errorf("Stat above the root: %v", err)
	}
}

// TestSymlinks checks that all that follows links follows those with absolute targets to the root
// of the volume, and that errors are those of the last try.
func TestSymlinks(t *testing.T) {
	files := aferofs.New(volumes.New(t))
	err := errors.Join(
		files.MkdirAll("/a/b", 0o755),
		files.SymlinkIfPossible("/a/b", "/link"),
		files.Mkdir("/link/c", 0o755),
		files.MkdirAll("/link/d/e", 0o755),
		afero.WriteFile(files, "/link/file", []byte("text"), 0o644),
		files.SymlinkIfPossible("/link/file", "/link/chain"),
		files.Chmod("/link/chain", 0o600),
		files.Rename("/link/file", "/link/d/file"),
		files.Remove("/link/chain"),
		files.RemoveAll("/link/d/e"),
	)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := files.Stat("/a/b/d/file"); err != nil || info.Mode() != 0o600 {
		t.Errorf("Stat: %v, %v", info, err)
	}
	info, direct, err := files.LstatIfPossible("/link")
	if err != nil || !direct || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("LstatIfPossible: %v, %v, %v", info, direct, err)
	}
	if info, err := files.Stat("/link"); err != nil || !info.IsDir() || info.Name() != "link" {
		t.Errorf("Stat of the link: %v, %v", info, err)
	}
	if target, err := files.ReadlinkIfPossible("/link"); err != nil || target != "/a/b" {
		t.Errorf("ReadlinkIfPossible: %q, %v", target, err)
	}
	if _, err := files.Open("/link/missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open: %v", err)
	}
	if err := files.Mkdir("/link/c", 0o755); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Mkdir: %v", err)
	}
}

// TestLoops checks that all that follows links tells a loop of absolute ones by ELOOP.
func TestLoops(t *testing.T) {
	files := aferofs.New(volumes.New(t))
	err := errors.Join(files.Mkdir("/a", 0o755), files.SymlinkIfPossible("/a/loop", "/a/loop"), files.SymlinkIfPossible("/there/x", "/here"),
		files.SymlinkIfPossible("/here", "/there"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"/a/loop", "/a/loop/x", "/here", "/there/y"} {
		_, openErr := files.Open(name)
		_, statErr := files.Stat(name)
		_, createErr := files.Create(name)
		for what, err := range map[string]error{
			"Open": openErr, "Stat": statErr, "Create": createErr, "Chmod": files.Chmod(name, 0o600), "Mkdir": files.Mkdir(name+"/z", 0o755),
			"MkdirAll": files.MkdirAll(name+"/z", 0o755), "Rename": files.Rename("/a", name+"/z"), "Rename from": files.Rename(name+"/z", "/z"),
			"Remove": files.Remove(name + "/z"), "RemoveAll": files.RemoveAll(name + "/z"),
		} {
			if !errors.Is(err, syscall.ELOOP) {
				t.Errorf("%s(%q): %v, want ELOOP", what, name, err)
			}
		}
	}
	if err := files.Remove("/a/loop"); err != nil {
		t.Error(err)
	}
}

// TestTx checks that the calls of a program by afero can be one change of the volume, or none.
func TestTx(t *testing.T) {
	vol := volumes.New(t)
	work := func(files afero.Fs) error {
		if err := files.MkdirAll("/a/b", 0o755); err != nil {
			return err
		}
		if err := afero.WriteFile(files, "/a/b/file", []byte("text"), 0o644); err != nil {
			return err
		}
		return files.Rename("/a/b", "/c")
	}
	undo := errors.New("undo")
	for _, end := range []error{undo, nil} {
		err := vol.Update(context.Background(), func(tx *folio.Tx) error {
			if err := work(aferofs.New(tx)); err != nil {
				return err
			}
			return end
		})
		if !errors.Is(err, end) {
			t.Fatal(err)
		}
		if _, err := vol.Stat("c/file"); (err == nil) != (end == nil) {
			t.Errorf("after %v: %v", end, err)
		}
	}
}

// TestIOFS checks a directory of a volume as afero gives it to package io/fs.
func TestIOFS(t *testing.T) {
	vol := volumes.New(t)
	if err := vol.MkdirAll("top/a/b", 0o755); err != nil {
		t.Fatal(err)
	}
	root, err := vol.OpenRoot("top")
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	files := aferofs.New(root)
	if err := afero.WriteFile(files, "/a/b/file", []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(afero.NewIOFS(files), "a/b/file"); err != nil {
		t.Error(err)
	}
}
