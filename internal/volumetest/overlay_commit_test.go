//go:build unix

package volumetest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/random"
	"github.com/foliofs/folio/internal/roottest"
)

// baseDir makes a directory of the system with files, and returns its path. Names that end in a
// slash are directories.
func baseDir(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		must.Do(t, os.MkdirAll(filepath.Dir(full), 0o755))
		if name[len(name)-1] == '/' {
			must.Do(t, os.MkdirAll(full, 0o755))
			continue
		}
		must.Do(t, os.WriteFile(full, []byte(content), 0o644))
		must.Do(t, os.Chtimes(full, oldTime, oldTime))
	}
	return dir
}

// changesOf returns the changes of an overlay as text.
func changesOf(t *testing.T, v *folio.Overlay) (list []string) {
	t.Helper()
	for c, err := range v.Diff(t.Context()) {
		must.Do(t, err)
		text := kindText(c.Kind) + " " + c.Path
		if c.OldPath != "" {
			text += " from " + c.OldPath
		}
		list = append(list, text)
	}
	return list
}

func kindText(k folio.ChangeKind) string {
	var names []string
	for i, name := range []string{"made", "removed", "moved", "content", "attributes"} {
		if k&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, "+")
}

// overlayChanges are changes of the files of baseFiles, and what Diff must say of them.
var overlayChanges = map[string]struct {
	do   func(v *folio.Overlay) error
	want string
}{
	"nothing":     {func(*folio.Overlay) error { return nil }, ""},
	"made":        {func(v *folio.Overlay) error { return v.WriteFile("dir/new", []byte("x"), 0o644) }, "made dir/new"},
	"made dir":    {func(v *folio.Overlay) error { return v.MkdirAll("n/m", 0o755) }, "made n; made n/m"},
	"removed":     {func(v *folio.Overlay) error { return v.Remove("file") }, "removed file"},
	"removed dir": {func(v *folio.Overlay) error { return v.RemoveAll("dir") }, "removed dir"},
	"content":     {func(v *folio.Overlay) error { return v.WriteFile("dir/a", []byte("other"), 0o644) }, "content+attributes dir/a"},
	"same again": {func(v *folio.Overlay) error {
		return errors.Join(v.WriteFile("dir/a", []byte("content of a"), 0o644), v.Chtimes("dir/a", oldTime, oldTime))
	}, ""},
	"attributes": {func(v *folio.Overlay) error { return v.Chmod("file", 0o600) }, "attributes file"},
	"of a dir":   {func(v *folio.Overlay) error { return v.Chmod("dir", 0o700) }, "attributes dir"},
	"moved":      {func(v *folio.Overlay) error { return v.Rename("file", "dir/z") }, "moved dir/z from file"},
	"moved over": {func(v *folio.Overlay) error { return v.Rename("file", "dir/a") }, "removed dir/a; moved dir/a from file"},
	"moved dir":  {func(v *folio.Overlay) error { return v.Rename("dir", "moved") }, "moved moved from dir"},
	"moved dir, changed": {func(v *folio.Overlay) error {
		return errors.Join(v.Rename("dir", "moved"), v.WriteFile("moved/a", []byte("xyz"), 0o644), v.Remove("moved/sub/b"))
	}, "moved moved from dir; content+attributes moved/a; removed moved/sub/b"},
	"moved out of a moved dir": {func(v *folio.Overlay) error {
		return errors.Join(v.Rename("dir", "moved"), v.Rename("moved/a", "a"), v.Mkdir("dir", 0o755), v.WriteFile("dir/a", nil, 0o644))
	}, "moved a from dir/a; made dir; made dir/a; moved moved from dir"},
	"swapped": {func(v *folio.Overlay) error {
		return errors.Join(v.Rename("file", "t"), v.Rename("dir/a", "file"), v.Rename("t", "dir/a"))
	}, "moved dir/a from file; moved file from dir/a"},
	"replaced by rename": {func(v *folio.Overlay) error {
		return errors.Join(v.WriteFile("t", []byte("saved"), 0o644), v.Rename("t", "file"))
	}, "content+attributes file"},
	"another type": {func(v *folio.Overlay) error {
		return errors.Join(v.Remove("file"), v.Mkdir("file", 0o755), v.WriteFile("file/in", []byte("x"), 0o644))
	}, "removed file; made file; made file/in"},
	"dir anew": {func(v *folio.Overlay) error {
		return errors.Join(v.RemoveAll("dir"), v.Mkdir("dir", 0o755), v.WriteFile("dir/only", []byte("x"), 0o644))
	}, "removed dir; made dir; made dir/only"},
	"link":     {func(v *folio.Overlay) error { return v.Symlink("file", "link") }, "made link"},
	"relinked": {func(v *folio.Overlay) error { return errors.Join(v.Remove("to"), v.Symlink("dir", "to")) }, "content+attributes to"},
	"hard link": {func(v *folio.Overlay) error {
		return errors.Join(v.WriteFile("one", []byte("x"), 0o644), v.Link("one", "two"))
	}, "made one; made two"},
}

// baseFiles makes the base of overlayChanges.
func baseFiles(t *testing.T) (*os.Root, string) {
	t.Helper()
	dir := baseDir(t, map[string]string{
		"file": "content of file", "dir/a": "content of a", "dir/sub/b": "content of b", "dir/empty/": "", "gone/sub/file": "x", "large": strings.Repeat("0123456789", 30_000),
	})
	must.Do(t, os.Symlink("file", filepath.Join(dir, "to")))
	for _, name := range []string{"gone/sub", "gone", "dir/sub", "dir/empty", "dir", "."} { // a change is seen however soon it comes
		must.Do(t, os.Chtimes(filepath.Join(dir, name), oldTime, oldTime))
	}
	root, err := os.OpenRoot(dir)
	must.Do(t, err)
	t.Cleanup(func() { _ = root.Close() })
	return root, dir
}

// TestOverlayDiff compares what Diff says, before and after the overlay is opened again.
func TestOverlayDiff(t *testing.T) {
	t.Parallel()
	for name, tt := range overlayChanges {
		t.Run(name, func(t *testing.T) {
			root, _ := baseFiles(t)
			v, upper := overlaid(t, root.FS(), nil)
			must.Do(t, tt.do(v))
			for _, v := range []*folio.Overlay{v, overAgain(t, root.FS(), upper, nil)} {
				if got := strings.Join(changesOf(t, v), "; "); got != tt.want {
					t.Errorf("got  %s\nwant %s", got, tt.want)
				}
			}
			WantClean(t, upper)
			must.Do(t, v.Discard(t.Context()))
			if got := changesOf(t, v); len(got) != 0 {
				t.Errorf("after Discard: %q", got)
			}
			sameText(t, v.FS(), root.FS())
			WantClean(t, upper)
		})
	}
}

// TestOverlayCommit commits changes to the directory that is the base, and to a volume with a copy
// of it. Then both must have the tree of the overlay.
func TestOverlayCommit(t *testing.T) {
	t.Parallel()
	for name, tt := range overlayChanges {
		t.Run(name, func(t *testing.T) {
			root, dir := baseFiles(t)
			copied := Import(t, dir)
			v, upper := overlaid(t, root.FS(), nil)
			must.Do(t, tt.do(v))
			want := shownBy(t, v)
			must.Do(t, copied.Update(t.Context(), func(tx *folio.Tx) error { return v.CommitTo(t.Context(), tx, ".") }))
			sameText(t, copied.FS(), want.FS())
			must.Do(t, v.Commit(t.Context(), root))
			sameText(t, root.FS(), want.FS())
			must.Do(t, v.Discard(t.Context()))
			sameText(t, v.FS(), want.FS())
			if got := changesOf(t, v); len(got) != 0 {
				t.Errorf("after Discard: %q", got)
			}
			WantClean(t, upper)
		})
	}
}

// shownBy makes a volume of what an overlay shows.
func shownBy(t *testing.T, v *folio.Overlay) *folio.Volume {
	t.Helper()
	copied := Memory(t, nil)
	must.Do(t, copied.Merge(t.Context(), v.FS(), ".", nil))
	return copied
}

// TestOverlayConflict changes the base below an overlay in ways that its changes must not be
// committed over.
func TestOverlayConflict(t *testing.T) {
	t.Parallel()
	change := func(v *folio.Overlay) error {
		return errors.Join(
			v.WriteFile("file", []byte("ours"), 0o644), v.Remove("dir/a"), v.RemoveAll("dir/sub"), v.WriteFile("new", []byte("ours"), 0o644),
			v.RemoveAll("gone"), v.Chmod("large", 0o600), v.Rename("to", "moved"),
		)
	}
	for name, tt := range map[string]struct {
		do   func(dir string) error
		want string
	}{
		"none":    {func(string) error { return nil }, ""},
		"content": {func(dir string) error { return os.WriteFile(filepath.Join(dir, "file"), []byte("theirs"), 0o644) }, "file was changed"},
		"touched": {func(dir string) error { return os.Chtimes(filepath.Join(dir, "file"), time.Now(), time.Now()) }, "file was changed"},
		"mode":    {func(dir string) error { return os.Chmod(filepath.Join(dir, "file"), 0o611) }, "file has other permissions"},
		"removed": {func(dir string) error { return os.Remove(filepath.Join(dir, "file")) }, "file was removed"},
		"both":    {func(dir string) error { return os.Remove(filepath.Join(dir, "dir/a")) }, ""},
		"hidden":  {func(dir string) error { return os.WriteFile(filepath.Join(dir, "dir/a"), nil, 0o644) }, "dir/a was changed"},
		"in a dir": {func(dir string) error {
			name := filepath.Join(dir, "dir/sub/c")
			return errors.Join(os.WriteFile(name, nil, 0o644), os.Chtimes(name, oldTime, oldTime))
		}, "dir/sub was changed"},
		"deep in a dir": {func(dir string) error {
			name, later := filepath.Join(dir, "gone/sub/file"), time.Now().Add(time.Second)
			return errors.Join(os.WriteFile(name, []byte("theirs"), 0o644), os.Chtimes(name, later, later))
		}, "gone/sub/file was changed"},
		"made": {func(dir string) error { return os.WriteFile(filepath.Join(dir, "new"), []byte("theirs"), 0o644) }, "new was made"},
		"type": {func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "large")), os.Mkdir(filepath.Join(dir, "large"), 0o755))
		}, "large has another type"},
		"two": {func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "file")), os.WriteFile(filepath.Join(dir, "new"), nil, 0o644))
		}, "file was removed; new was made"},
		"elsewhere": {func(dir string) error { return os.WriteFile(filepath.Join(dir, "other"), nil, 0o644) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			root, dir := baseFiles(t)
			v, upper := overlaid(t, root.FS(), nil)
			must.Do(t, change(v))
			must.Do(t, tt.do(dir))
			v = overAgain(t, root.FS(), upper, nil)
			before := treeText(t, root.FS())
			err := v.Commit(t.Context(), root)
			if tt.want == "" {
				must.Do(t, err)
				return
			}
			conflict, ok := errors.AsType[*folio.ConflictError](err)
			if !ok || !errors.Is(err, folio.ErrConflict) {
				t.Fatalf("%v, want conflicts", err)
			}
			var got []string
			for _, c := range conflict.Conflicts {
				got = append(got, c.Path+" "+c.What)
			}
			if strings.Join(got, "; ") != tt.want || !strings.Contains(err.Error(), got[0]) {
				t.Errorf("%q, want %q", got, tt.want)
			}
			if after := treeText(t, root.FS()); after != before {
				t.Error("the base has changed")
			}
		})
	}
}

// treeText describes a tree, without the times of directories and symbolic links.
func treeText(t *testing.T, fsys fs.FS) string {
	t.Helper()
	var b strings.Builder
	must.Do(t, fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		fmt.Fprint(&b, name, " ", info.Mode(), " ")
		switch info.Mode().Type() {
		case 0:
			p, err := fs.ReadFile(fsys, name)
			fmt.Fprint(&b, info.ModTime().UnixNano(), " ", roottest.Hash(p), err)
		case fs.ModeSymlink:
			target, err := fs.ReadLink(fsys, name)
			fmt.Fprint(&b, target, err)
		}
		b.WriteString("\n")
		return nil
	}))
	return b.String()
}

// sameText compares two trees by treeText.
func sameText(t *testing.T, got, want fs.FS) {
	t.Helper()
	if a, b := treeText(t, got), treeText(t, want); a != b {
		t.Errorf("the trees differ: %s", roottest.Difference(a, b))
	}
}

// TestOverlayCommitFull commits to a volume that has too little room. Nothing may be left of it.
func TestOverlayCommitFull(t *testing.T) {
	t.Parallel()
	root, dir := baseFiles(t)
	v, _ := overlaid(t, root.FS(), nil)
	must.Do(t, v.WriteFile("huge", random.Bytes(random.New(t), 4<<20), 0o644))
	must.Do(t, v.Remove("file"))
	small := Memory(t, &folio.Options{MaxSize: 2 << 20})
	must.Do(t, small.Merge(t.Context(), os.DirFS(dir), ".", nil))
	err := small.Update(t.Context(), func(tx *folio.Tx) error { return v.CommitTo(t.Context(), tx, ".") })
	WantFull(t, "CommitTo", err)
	sameText(t, small.FS(), root.FS())
	WantClean(t, small)
}
