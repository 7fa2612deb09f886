package folio_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/volumetest"
)

// TestMerge copies trees in: of the system, of a volume, of memory; to existing and to new places.
func TestMerge(t *testing.T) {
	t.Parallel()
	sample := volumetest.Create(t, volumetest.AddAll(volumetest.Samples...))
	sources := map[string]fs.FS{"system": os.DirFS(volumetest.Goroot(t, "src/io")), "volume": sample.FS()}
	for name, src := range sources {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := volumetest.Empty(t)
			var files, bytes int64
			must.Do(t, fs.WalkDir(src, ".", func(_ string, d fs.DirEntry, err error) error {
				if err == nil && d.Type().IsRegular() {
					info, err := d.Info()
					must.Do(t, err)
					files, bytes = files+1, bytes+info.Size()
				}
				return err
			}))
			var stats folio.MergeStats
			progress := func(_ string, done folio.MergeStats) { stats = done }
			must.Do(t, v.Merge(t.Context(), src, "a/b", &folio.MergeOptions{Progress: progress}))
			if stats.Files != files || stats.Bytes != bytes || stats.Kept+stats.Replaced != 0 {
				t.Errorf("%+v; want %d files, %d bytes", stats, files, bytes)
			}
			sub, err := fs.Sub(v.FS(), "a/b")
			must.Do(t, err)
			sameTree(t, sub, src)
			must.Do(t, v.Merge(t.Context(), src, ".", &folio.MergeOptions{Policy: folio.MergeReplace}))
			must.Do(t, v.RemoveAll("a/b"))
			volumetest.WantClean(t, v)
		})
	}
}

// mergeSource is a tree to merge, and the tree before.
var (
	mergeTime   = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	mergeSource = fstest.MapFS{
		"same":    {Data: []byte("new"), Mode: 0o640, ModTime: mergeTime},
		"older":   {Data: []byte("new!"), ModTime: mergeTime},
		"newer":   {Data: []byte("new"), ModTime: mergeTime},
		"dir":     {Mode: fs.ModeDir | 0o700, ModTime: mergeTime},
		"dir/in":  {Data: []byte("new"), ModTime: mergeTime},
		"fresh/x": {Data: []byte("new"), ModTime: mergeTime},
		"link":    {Data: []byte("same"), Mode: fs.ModeSymlink | 0o777, ModTime: mergeTime},
	}
)

// mergeTarget is a volume with names that mergeSource has, too.
func mergeTarget(t *testing.T) *folio.Volume {
	v := volumetest.Empty(t)
	must.Do(t, v.Mkdir("dir", 0o755))
	for name, age := range map[string]time.Duration{"same": 0, "older": time.Hour, "newer": -time.Hour, "dir/other": 0, "link": time.Hour} {
		must.Do(t, v.WriteFile(name, []byte("old"), 0o600))
		must.Do(t, v.Chtimes(name, time.Time{}, mergeTime.Add(-age)))
	}
	must.Do(t, v.Link("older", "name"))
	return v
}

// TestMergePolicy merges over existing files.
func TestMergePolicy(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		policy              folio.MergePolicy
		same, older, newer  string
		link                fs.FileMode
		replaced, kept, all int64
	}{
		{folio.MergeKeep, "old", "old", "old", 0, 0, 4, 2},
		{folio.MergeReplace, "new", "new!", "new", fs.ModeSymlink, 4, 0, 6},
		{folio.MergeNewer, "old", "new!", "old", fs.ModeSymlink, 2, 2, 4},
		{folio.MergeChanged, "old", "new!", "new", fs.ModeSymlink, 3, 1, 5},
	} {
		v := mergeTarget(t)
		f, err := v.Open("older")
		must.Do(t, err)
		defer f.Close()
		var stats folio.MergeStats
		progress := func(_ string, done folio.MergeStats) { stats = done }
		must.Do(t, v.Merge(t.Context(), mergeSource, "./dir/..", &folio.MergeOptions{Policy: test.policy, Progress: progress}))
		for name, want := range map[string]string{
			"same": test.same, "older": test.older, "newer": test.newer, "name": "old", "dir/other": "old", "dir/in": "new", "fresh/x": "new",
		} {
			volumetest.WantFile(t, v, name, want)
		}
		if info, err := v.Lstat("link"); err != nil || info.Mode().Type() != test.link {
			t.Errorf("%d: link is %v, %v", test.policy, info, err)
		}
		if stats.Replaced != test.replaced || stats.Kept != test.kept || stats.Files+stats.Symlinks != test.all {
			t.Errorf("%d: %+v", test.policy, stats)
		}
		if got, err := io.ReadAll(f); string(got) != "old" {
			t.Errorf("%d: what was open reads %q, %v", test.policy, got, err)
		}
		if info, err := v.Stat("dir"); err != nil || (info.Mode().Perm() == 0o700) != (test.policy == folio.MergeReplace) {
			t.Errorf("%d: dir is %v, %v", test.policy, info, err)
		}
		volumetest.WantClean(t, v)
	}
}

// TestMergeFails makes merges that are impossible. Nothing must happen.
func TestMergeFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	ctx, cancel := context.WithCancel(t.Context())
	for name, test := range map[string]struct {
		ctx  context.Context
		src  fs.FS
		dir  string
		o    *folio.MergeOptions
		want error
		path string
	}{
		"exists":        {t.Context(), mergeSource, ".", nil, fs.ErrExist, "link"},
		"file for dir":  {t.Context(), fstest.MapFS{"a": {}, "dir": {}}, ".", &folio.MergeOptions{Policy: folio.MergeReplace}, folio.ErrIsDirectory, "dir"},
		"no name":       {t.Context(), mergeSource, "", nil, folio.ErrEmptyPath, "."},
		"dir over file": {t.Context(), fstest.MapFS{"a": {}, "same/x": {}}, ".", &folio.MergeOptions{Policy: folio.MergeNewer}, folio.ErrNotDirectory, "same"},
		"dir over link": {t.Context(), fstest.MapFS{"a": {}, "name/x": {}}, ".", &folio.MergeOptions{Policy: folio.MergeChanged}, syscall.ENOTDIR, "name"},
		"into a file":   {t.Context(), mergeSource, "same", nil, folio.ErrNotDirectory, "same"},
		"below a file":  {t.Context(), mergeSource, "same/x", nil, folio.ErrNotDirectory, "same/x"},
		"out of it":     {t.Context(), mergeSource, "../x", nil, folio.ErrEscapes, "../x"},
		"long name":     {t.Context(), fstest.MapFS{strings.Repeat("n", 800): {}}, "x", nil, folio.ErrNameTooLong, "x/" + strings.Repeat("n", 800)},
		"unreadable":    {t.Context(), failingFS{mergeSource, "newer", broken}, "x", nil, broken, "newer"},
		"cancelled": {ctx, mergeSource, "x", &folio.MergeOptions{Progress: func(name string, _ folio.MergeStats) {
			if name == "fresh" {
				cancel()
			}
		}}, context.Canceled, ""},
	} {
		v := mergeTarget(t)
		before := listing(t, v)
		err := v.Merge(test.ctx, test.src, test.dir, test.o)
		pe, ok := errors.AsType[*fs.PathError](err)
		if !errors.Is(err, test.want) || ok != (test.want != context.Canceled) || ok && pe.Path != test.path {
			t.Errorf("%s: %v", name, err)
		}
		if after := listing(t, v); !slices.Equal(after, before) {
			t.Errorf("%s: %v, want %v", name, after, before)
		}
		volumetest.WantClean(t, v)
	}
}

// listing returns all that a volume holds, in lines.
func listing(t *testing.T, v *folio.Volume) (lines []string) {
	t.Helper()
	must.Do(t, fs.WalkDir(v.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		must.Do(t, err)
		info, err := d.Info()
		must.Do(t, err)
		content := []byte(nil)
		if d.Type().IsRegular() {
			content, err = v.ReadFile(name)
		}
		lines = append(lines, fmt.Sprint(name, info, string(content)))
		return err
	}))
	return lines
}

// A failingFS has a file whose content breaks off.
type failingFS struct {
	fs.FS
	name string
	err  error
}

func (f failingFS) Open(name string) (fs.File, error) {
	file, err := f.FS.Open(name)
	if name == f.name {
		file = failingFile{file, f.err}
	}
	return file, err
}

func (f failingFS) ReadLink(name string) (string, error)       { return fs.ReadLink(f.FS, name) }
func (f failingFS) Lstat(name string) (fs.FileInfo, error)     { return fs.Lstat(f.FS, name) }
func (f failingFS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(f.FS, name) }

type failingFile struct {
	fs.File
	err error
}

func (f failingFile) Read(p []byte) (int, error) {
	if n, err := f.File.Read(p[:1]); err == nil {
		return n, nil
	}
	return 0, f.err
}

// TestMergeTx merges in a transaction with other changes, and in a transaction that goes on after
// an error.
func TestMergeTx(t *testing.T) {
	t.Parallel()
	v := mergeTarget(t)
	must.Do(t, v.Update(t.Context(), func(tx *folio.Tx) error {
		must.Do(t, tx.Merge(t.Context(), mergeSource, "next", nil))
		next, err := fs.Sub(tx.FS(), "next")
		must.Do(t, err)
		must.Do(t, tx.Merge(t.Context(), next, "copy/deep", nil))
		return tx.Rename("next", "now")
	}))
	volumetest.WantFile(t, v, "now/dir/in", "new")
	volumetest.WantFile(t, v, "copy/deep/dir/in", "new")
	err := v.Update(t.Context(), func(tx *folio.Tx) error {
		if err := tx.Merge(t.Context(), mergeSource, ".", nil); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%v, want ErrExist", err)
		}
		return nil
	})
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("half of a merge is committed, with %v", err)
	}
	r, err := v.OpenRoot("now")
	must.Do(t, err)
	must.Do(t, r.Merge(t.Context(), mergeSource, "sub", nil))
	volumetest.WantFile(t, v, "now/sub/dir/in", "new")
	if err := r.Merge(t.Context(), mergeSource, "../sub", nil); !errors.Is(err, folio.ErrEscapes) {
		t.Errorf("out of a Root: %v", err)
	}
	must.Do(t, r.Close())
	if err := r.Merge(t.Context(), mergeSource, "sub", nil); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("in a closed Root: %v", err)
	}
	volumetest.WantClean(t, v)
}

// TestMergeRemoved merges into a directory that was removed, and is open as a Root.
func TestMergeRemoved(t *testing.T) {
	t.Parallel()
	for _, src := range []fstest.MapFS{{}, {"f": {Data: []byte("content")}}, {"d/f": {}}} {
		v := volumetest.Empty(t)
		must.Do(t, v.Mkdir("dir", 0o755))
		root, err := v.OpenRoot("dir")
		must.Do(t, err)
		must.Do(t, v.Remove("dir"))
		for _, dir := range []string{".", "sub"} {
			if err := root.Merge(t.Context(), src, dir, &folio.MergeOptions{Policy: folio.MergeReplace}); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Merge of %v into %s: %v", src, dir, err)
			}
		}
		must.Do(t, root.Close())
		volumetest.WantClean(t, v)
	}
}

// TestMergeItself merges directories of a volume into themselves.
func TestMergeItself(t *testing.T) {
	t.Parallel()
	v := mergeTarget(t)
	must.Do(t, v.Merge(t.Context(), v.FS(), "copy", nil))
	volumetest.WantFile(t, v, "copy/dir/other", "old")
	volumetest.WantNone(t, v, "copy/copy")
	if err := v.Merge(t.Context(), v.FS(), "copy", &folio.MergeOptions{Policy: folio.MergeReplace}); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("a second time: %v", err)
	}
	volumetest.WantClean(t, v)
}

// TestMergeLarge merges files that need several reads, with holes, and a file that grows meanwhile.
func TestMergeLarge(t *testing.T) {
	t.Parallel()
	v := volumetest.Empty(t)
	large := bytes.Repeat([]byte("0123456789abcdef"), 200_000)
	sparse := make([]byte, 5<<20)
	copy(sparse[3<<20+7:], large[:100_000])
	src := fstest.MapFS{
		"large": {Data: large}, "sparse": {Data: sparse}, "zeros": {Data: sparse[:1<<20]},
		"chunk": {Data: large[:store.ChunkSize]}, "piece": {Data: large[:1<<20]}, "zero": {Data: sparse[:1000]},
	}
	must.Do(t, v.Merge(t.Context(), growing{src}, ".", nil))
	for name, f := range src {
		if got, err := v.ReadFile(name); err != nil || !bytes.Equal(got, f.Data) {
			t.Errorf("%s: %d bytes, %v; want %d", name, len(got), err, len(f.Data))
		}
	}
	info, err := v.Stat("sparse")
	must.Do(t, err)
	if n := info.Sys().(*folio.Node); n.Size-n.Holes > 500_000 {
		t.Errorf("%d bytes of %d are stored", n.Size-n.Holes, n.Size)
	}
	volumetest.WantClean(t, v)
}

// growing says of each file that it is shorter than it is.
type growing struct{ fs.FS }

func (g growing) Open(name string) (fs.File, error) {
	f, err := g.FS.Open(name)
	if err != nil || name == "." {
		return f, err
	}
	return growingFile{f}, nil
}

type growingFile struct{ fs.File }

func (g growingFile) Stat() (fs.FileInfo, error) {
	info, err := g.File.Stat()
	return shorter{info}, err
}

type shorter struct{ fs.FileInfo }

func (s shorter) Size() int64 { return s.FileInfo.Size() / 100 }

// TestMergeNames merges a source with names that no directory takes.
func TestMergeNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"..", ".", "a/b", "../x", "", "x\x00y", "/etc/passwd"} {
		v := volumetest.Empty(t)
		if err := v.Merge(t.Context(), namingFS{name}, "x", nil); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%q: %v", name, err)
		}
		volumetest.WantNone(t, v, "x")
	}
}

// A namingFS has one file, with any name.
type namingFS struct{ name string }

func (f namingFS) Open(string) (fs.File, error) { return fstest.MapFS{}.Open(".") }

func (f namingFS) ReadDir(string) ([]fs.DirEntry, error) {
	list, err := fs.ReadDir(fstest.MapFS{"x": {}}, ".")
	return []fs.DirEntry{namedEntry{list[0], f.name}}, err
}

type namedEntry struct {
	fs.DirEntry
	name string
}

func (e namedEntry) Name() string { return e.name }
