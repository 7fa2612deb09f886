package folio_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio"
)

// A readFunc is a reader that is a function.
type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

func content(n int) []byte { return bytes.Repeat([]byte("0123456789abcdef"), n/16+1)[:n] }

// WriteFrom makes the bytes of its source the content, whatever its size, and no transaction waits
// for it: the source itself writes to the volume while it is read.
func TestWriteFrom(t *testing.T) {
	t.Parallel()
	v := writable(t)
	for _, size := range []int{0, 1, 65536, 1<<20 - 1, 1 << 20, 3<<20 + 5} {
		want := content(size)
		src := bytes.NewReader(want)
		n, err := v.WriteFrom("file", readFunc(func(p []byte) (int, error) {
			if err := v.WriteFile("other", p[:min(len(p), 10)], 0o600); err != nil {
				t.Error(err)
			}
			return src.Read(p)
		}), 0o640)
		if err != nil || n != int64(size) {
			t.Fatalf("%d bytes: %d, %v", size, n, err)
		}
		if got, err := v.ReadFile("file"); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: got %d, %v", size, len(got), err)
		}
	}
	if info, err := v.Stat("file"); err != nil || info.Mode() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	checkVolume(t, v)
}

// A source that fails leaves the file as it was, and nothing else.
func TestWriteFromFails(t *testing.T) {
	t.Parallel()
	v := writable(t)
	broken := errors.New("on purpose")
	if err := v.WriteFile("file", []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "new"} {
		src := io.MultiReader(bytes.NewReader(content(2<<20)), readFunc(func([]byte) (int, error) { return 0, broken }))
		if _, err := v.WriteFrom(name, src, 0o600); !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	err := v.Update(context.Background(), func(tx *folio.Tx) error {
		src := io.MultiReader(bytes.NewReader(content(2<<20)), readFunc(func([]byte) (int, error) { return 0, broken }))
		if _, err := tx.WriteFrom("file", src, 0o600); !errors.Is(err, broken) {
			t.Errorf("in Update: %v", err)
		}
		_, err := tx.WriteFrom("by-tx", strings.NewReader("whole"), 0o600)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"file": "old", "by-tx": "whole"} {
		if got, err := v.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := v.Stat("new"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("new: %v", err)
	}
	checkVolume(t, v)
	if r, err := v.Check(context.Background(), nil); err != nil || r.Nodes != 4 { // with the root, and an orphan of the Update
		t.Errorf("%d inodes, %v", r.Nodes, err)
	}
}

// A replaced file keeps everything except its content. Its other names, and files that are open,
// keep the old content.
func TestWriteFromReplaces(t *testing.T) {
	t.Parallel()
	v := writable(t)
	if err := v.WriteFile("file", []byte("old"), 0o604); err != nil {
		t.Fatal(err)
	}
	err := errors.Join(v.Chown("file", 12, 34), v.SetXattr("file", "user.a", []byte("value")), v.Link("file", "link"), v.Symlink("file", "sym"))
	if err != nil {
		t.Fatal(err)
	}
	open, err := v.Open("file")
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if _, err := v.WriteFrom("sym", strings.NewReader("new"), 0o777); err != nil {
		t.Fatal(err)
	}
	info, err := v.Lstat("file")
	if err != nil {
		t.Fatal(err)
	}
	n := info.Sys().(*folio.Node)
	if info.Mode() != 0o604 || n.UID != 12 || n.GID != 34 || n.Nlink != 1 {
		t.Errorf("%v, %+v", info.Mode(), n)
	}
	if list, err := v.Xattrs("file"); err != nil || string(list["user.a"]) != "value" {
		t.Errorf("attributes %q, %v", list, err)
	}
	old, err := io.ReadAll(open)
	if err != nil || string(old) != "old" {
		t.Errorf("who has it open reads %q, %v", old, err)
	}
	for name, want := range map[string]string{"file": "new", "sym": "new", "link": "old"} {
		if got, err := v.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	checkVolume(t, v)
}

// Names that can have no file are refused before the source is read.
func TestWriteFromRefused(t *testing.T) {
	t.Parallel()
	v := writable(t)
	if err := errors.Join(v.Mkdir("dir", 0o700), v.Symlink("../out", "escape"), v.Mknod("fifo", fs.ModeNamedPipe|0o600, 0)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{
		"dir": folio.ErrIsDirectory, "": folio.ErrEmptyPath, "none/file": fs.ErrNotExist, "escape": folio.ErrEscapes, "fifo": folio.ErrNotRegular,
		strings.Repeat("n", 800): folio.ErrNameTooLong,
	} {
		_, err := v.WriteFrom(name, readFunc(func([]byte) (int, error) { t.Errorf("%q: read", name); return 0, io.EOF }), 0o600)
		if !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", name, err, want)
		}
	}
}

// A directory that is removed while the content is read takes no file.
func TestWriteFromRemovedDirectory(t *testing.T) {
	t.Parallel()
	v := writable(t)
	if err := v.Mkdir("dir", 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := v.WriteFrom("dir/file", readFunc(func([]byte) (int, error) { return 0, errors.Join(v.RemoveAll("dir"), io.EOF) }), 0o600)
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	checkVolume(t, v)
}

func TestCreateTemp(t *testing.T) {
	t.Parallel()
	v := writable(t)
	if err := v.Mkdir("dir", 0o700); err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for range 100 {
		f, err := v.CreateTemp("dir", "a-*.txt")
		if err != nil {
			t.Fatal(err)
		}
		if ok, _ := filepath.Match("dir/a-*.txt", f.Name()); !ok || seen[f.Name()] {
			t.Errorf("name %q", f.Name())
		}
		seen[f.Name()] = true
		if _, err := f.WriteString("text"); err != nil {
			t.Error(err)
		}
		if info, err := f.Stat(); err != nil || info.Mode() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		f.Close()
	}
	if _, err := v.CreateTemp("dir", "a/b"); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("a pattern with a slash: %v", err)
	}
	if _, err := v.CreateTemp("none", "a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}

func TestCopyFile(t *testing.T) {
	t.Parallel()
	v := writable(t)
	want := append(make([]byte, 1<<20), content(100000)...)
	if err := errors.Join(v.WriteFile("from", nil, 0o640), v.SetXattr("from", "user.a", []byte("value")), v.WriteFile("there", []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	f, err := v.OpenFile("from", 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(want[1<<20:], 1<<20); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]fs.FileMode{"new": 0o640, "there": 0o600} {
		if err := v.CopyFile("from", name); err != nil {
			t.Fatal(err)
		}
		info, err := v.Stat(name)
		if err != nil || info.Mode() != mode || info.Sys().(*folio.Node).Holes != 1<<20 {
			t.Errorf("%s: %v, %+v, %v", name, info.Mode(), info.Sys(), err)
		}
		if got, err := v.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	if list, err := v.Xattrs("new"); err != nil || string(list["user.a"]) != "value" {
		t.Errorf("attributes %q, %v", list, err)
	}
	if err := v.Link("from", "same"); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"from", "same"} {
		if err := v.CopyFile("from", to); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("onto itself: %v", err)
		}
	}
	if got, err := v.ReadFile("from"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the source has %d bytes, %v", len(got), err)
	}
	if err := v.CopyFile(".", "dir"); !errors.Is(err, folio.ErrIsDirectory) {
		t.Errorf("a directory: %v", err)
	}
	checkVolume(t, v)
}

// Changes wakes on commits of this volume and of another that has the file open, and ends with its
// context.
func TestChanges(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "v.folio")
	var volumes []*folio.Volume
	for range 2 {
		v, err := folio.Open(path, &folio.Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		volumes = append(volumes, v)
	}
	for i, writer := range volumes {
		ctx, cancel := context.WithCancel(t.Context())
		stop := make(chan struct{})
		go func() {
			defer close(stop)
			for n := 0; ctx.Err() == nil; n++ {
				if err := writer.WriteFile("file", []byte{byte(n)}, 0o600); err != nil {
					t.Error(err)
				}
			}
		}()
		seen := 0
		for _, err := range volumes[0].Changes(ctx) {
			if err != nil {
				t.Error(err)
			}
			if seen++; seen == 3 {
				cancel()
			}
		}
		if seen < 3 {
			t.Errorf("volume %d: %d changes seen", i, seen)
		}
		<-stop
		cancel()
	}
	for range volumes[0].Changes(expired(t)) {
		t.Error("a change though nothing has changed")
	}
}

func expired(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func checkVolume(t *testing.T, v *folio.Volume) {
	t.Helper()
	if r, err := v.Check(context.Background(), nil); err != nil || !r.OK() {
		t.Errorf("Check: %v, %+v", err, r)
	}
}
