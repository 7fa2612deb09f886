package volumetest

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/race"
	"github.com/foliofs/folio/internal/random"
	"github.com/foliofs/folio/internal/roottest"
)

var restoreRounds = flag.Int("restore.rounds", 60, "rounds of the test of Restore")

// A treeCopy is a tree as it was: by path, each file.
type treeCopy map[string]copiedFile

type copiedFile struct {
	node          folio.Node
	xattrs, bytes string
}

// takeCopy copies the tree of a volume.
func takeCopy(t *testing.T, v *folio.Volume) treeCopy {
	t.Helper()
	c := make(treeCopy)
	must.Do(t, v.View(t.Context(), func(rx *folio.Rx) error {
		return fs.WalkDir(rx.FS(), ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil {
				c[name], err = copyFile(rx, name)
			}
			return err
		})
	}))
	return c
}

func copyFile(rx *folio.Rx, name string) (f copiedFile, err error) {
	info, err := rx.Lstat(name)
	if err != nil {
		return f, err
	}
	f.node = *info.Sys().(*folio.Node)
	attrs, err := rx.Xattrs(name)
	if err != nil {
		return f, err
	}
	f.xattrs = fmt.Sprintf("%q", attrs)
	switch {
	case info.Mode().IsRegular():
		p, err := rx.ReadFile(name)
		f.bytes = string(p)
		return f, err
	case info.Mode()&fs.ModeSymlink != 0:
		f.bytes, err = rx.Readlink(name)
	}
	return f, err
}

// isIn reports whether a path lies in a directory, or is the directory.
func isIn(name, dir string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
}

// inodes returns the inodes that have a name in a directory.
func (c treeCopy) inodes(dir string) map[uint64]bool {
	inos := make(map[uint64]bool)
	for name, f := range c {
		if isIn(name, dir) {
			inos[f.node.Ino] = true
		}
	}
	return inos
}

// alike describes a file, apart from what a restored file need not have. Check counts its links.
func (f *copiedFile) alike(ino bool) string {
	n := f.node
	n.Ctime, n.Nlink, n.Holes = 0, 0, 0
	if !ino {
		n.Ino = 0
	}
	return fmt.Sprintf("%+v %s %s", n, f.xattrs, roottest.Hash([]byte(f.bytes)))
}

// TestRestore changes a volume at random, and puts parts of it back as they were in one of several
// snapshots, of which it has copies. More:
//
//	go test ./internal/volumetest -run TestRestore$ -restore.rounds 100000 -timeout 2h
func TestRestore(t *testing.T) {
	t.Parallel()
	r := random.New(t)
	v := Empty(t)
	h := &restoring{r: r, v: v, was: make(map[string]treeCopy)}
	for i := range *restoreRounds {
		for range r.IntN(60) {
			randomChange(r, v)
		}
		if i%5 == 0 {
			name := fmt.Sprint("s", i)
			must.Do(t, v.CreateSnapshot(t.Context(), name))
			h.was[name] = takeCopy(t, v)
		} else {
			h.restore(t)
		}
		if len(h.was) > 6 {
			name := h.any()
			h.compare(t, name)
			must.Do(t, v.RemoveSnapshot(t.Context(), name))
			delete(h.was, name)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	for name := range h.was {
		h.compare(t, name)
	}
	t.Logf("%d files restored, %d with their inode", h.restored, h.same)
}

type restoring struct {
	r              *rand.Rand
	v              *folio.Volume
	was            map[string]treeCopy // by the name of the snapshot
	restored, same int
}

func (h *restoring) any() string {
	names := slices.Sorted(maps.Keys(h.was))
	return names[h.r.IntN(len(names))]
}

// compare looks whether a snapshot is still as it was.
func (h *restoring) compare(t *testing.T, name string) {
	t.Helper()
	at, err := h.v.OpenSnapshot(t.Context(), name)
	must.Do(t, err)
	defer at.Close()
	if !maps.Equal(takeCopy(t, at), h.was[name]) {
		t.Errorf("snapshot %s is another one", name)
	}
}

// restore restores something from a snapshot.
func (h *restoring) restore(t *testing.T) {
	t.Helper()
	name := h.any()
	was, before := h.was[name], takeCopy(t, h.v)
	top := "."
	if h.r.IntN(3) > 0 {
		paths := slices.Sorted(maps.Keys(was))
		top = paths[h.r.IntN(len(paths))]
	}
	would, err := h.v.Restore(t.Context(), name, top, &folio.RestoreOptions{DryRun: true})
	if errors.Is(err, folio.ErrNotDirectory) {
		if !maps.Equal(takeCopy(t, h.v), before) {
			t.Error("changed in spite of the error")
		}
		return
	}
	must.Do(t, err)
	if !maps.Equal(takeCopy(t, h.v), before) {
		t.Error("a dry run changed the volume")
	}
	names := 0
	did, err := h.v.Restore(t.Context(), name, top, &folio.RestoreOptions{Progress: func(string, folio.RestoreReport) { names++ }})
	must.Do(t, err)
	if did != would || int64(names) != did.Made+did.Changed+did.Removed+did.Equal {
		t.Errorf("%d names, %+v, and before %+v", names, did, would)
	}
	h.judge(t, top, was, before, takeCopy(t, h.v))
	WantClean(t, h.v)
	did.Equal += did.Made + did.Changed
	did.Made, did.Changed, did.Removed, did.Bytes = 0, 0, 0, 0
	if again, err := h.v.Restore(t.Context(), name, top, nil); err != nil || again != did {
		t.Errorf("%s again: %+v, want %+v, %v", top, again, did, err)
	}
}

// judge compares a tree after Restore with those before and in the snapshot.
func (h *restoring) judge(t *testing.T, top string, was, before, now treeCopy) {
	t.Helper()
	there, links := before.inodes(top), make(map[uint64]uint64)
	seen := make(map[uint64]bool)
	for name, f := range was {
		if !isIn(name, top) {
			continue
		}
		got, ok := now[name]
		keeps := there[f.node.Ino] // and so it must
		if !ok || got.alike(keeps) != f.alike(keeps) {
			t.Errorf("%s of %s: %.300s, want %.300s", name, top, got.alike(keeps), f.alike(keeps))
		}
		h.restored++
		if keeps {
			h.same++
		}
		if other, ok := links[f.node.Ino]; ok && other != got.node.Ino || !ok && seen[got.node.Ino] {
			t.Errorf("%s: inode %d is %d, and was %d", name, f.node.Ino, got.node.Ino, other)
		}
		links[f.node.Ino], seen[got.node.Ino] = got.node.Ino, true
	}
	for name, f := range now {
		if _, ok := was[name]; isIn(name, top) && !ok {
			t.Errorf("%s is there and was not", name)
		} else if !isIn(name, top) && !isIn(top, name) {
			old, ok := before[name]
			if shared := there[f.node.Ino] && was.inodes(top)[f.node.Ino]; !shared && (!ok || f.alike(true) != old.alike(true)) {
				t.Errorf("%s, outside of %s: %.300s, was %.300s", name, top, f.alike(true), old.alike(true))
			}
		}
	}
	for name := range before {
		if _, ok := now[name]; !ok && !isIn(name, top) {
			t.Errorf("%s, outside of %s, is gone", name, top)
		}
	}
}

// TestRestoreWay has what is on the way to the file.
func TestRestoreWay(t *testing.T) {
	t.Parallel()
	v := Empty(t)
	must.Do(t, v.MkdirAll("a/b", 0o750))
	must.Do(t, v.WriteFile("a/b/f", []byte("old"), 0o640))
	must.Do(t, v.Symlink("a", "l"))
	must.Do(t, v.Symlink("b/f", "a/to"))
	must.Do(t, v.CreateSnapshot(t.Context(), "s"))
	restore := func(name string) (folio.RestoreReport, error) { return v.Restore(t.Context(), "s", name, nil) }
	wantFile := func(name, want string) {
		t.Helper()
		if p, err := v.ReadFile(name); err != nil || string(p) != want {
			t.Errorf("%s: %q, %v, want %q", name, p, err, want)
		}
	}
	must.Do(t, v.RemoveAll("a"))
	must.Do(t, v.WriteFile("other", []byte("new"), 0o640))
	report, err := restore("l/b/f/") // through a link, and with a slash
	must.Do(t, err)
	wantFile("a/b/f", "old")
	if info, err := v.Stat("a/b"); err != nil || info.Mode() != fs.ModeDir|0o750 || report.Made != 1 {
		t.Errorf("%v, %v, %+v", info, err, report)
	}
	if _, err := v.Lstat("a/to"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a neighbour came back")
	}
	_, err = restore("a/to")
	must.Do(t, err)
	if target, err := v.Readlink("a/to"); err != nil || target != "b/f" {
		t.Errorf("%q, %v", target, err)
	}
	_, err = restore("a")
	must.Do(t, err)
	for _, name := range []string{"a/.", "./a//b/..", "l/.", "l/b/../."} {
		must.Do(t, v.WriteFile("a/x", nil, 0o644))
		report, err = restore(name)
		must.Do(t, err)
		if report.Removed != 1 || report.Made+report.Changed != 1 { // and the time of a
			t.Errorf("%s: %+v", name, report)
		}
	}
	wantFile("other", "new")
	must.Do(t, v.RemoveAll("a"))
	must.Do(t, v.WriteFile("a", nil, 0o640))
	if _, err := restore("a/b"); !errors.Is(err, folio.ErrNotDirectory) {
		t.Errorf("a file is in the way: %v", err)
	}
	_, err = restore("a")
	must.Do(t, err)
	wantFile("a/b/f", "old")
	_, err = restore(".")
	must.Do(t, err)
	if _, err := v.Lstat("other"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the root has a new file")
	}
	WantClean(t, v)
}

// TestRestoreErrors tries what must fail, and changes nothing.
func TestRestoreErrors(t *testing.T) {
	t.Parallel()
	v := Empty(t)
	must.Do(t, v.WriteFile("f", []byte("old"), 0o640))
	must.Do(t, v.CreateSnapshot(t.Context(), "s"))
	must.Do(t, v.WriteFile("f", []byte("new"), 0o640))
	wantPath := func(err, target error, path string) {
		t.Helper()
		e, ok := errors.AsType[*fs.PathError](err)
		if !errors.Is(err, target) || !ok || !strings.HasSuffix(e.Path, path) {
			t.Errorf("%v, want %v of %s", err, target, path)
		}
	}
	_, err := v.Restore(t.Context(), "none", ".", nil)
	wantPath(err, folio.ErrNoSnapshot, "test.folio@none")
	_, err = v.Restore(t.Context(), "s", "none", nil)
	wantPath(err, fs.ErrNotExist, "test.folio@s:none")
	_, err = v.Restore(t.Context(), "s", "f/x", nil)
	wantPath(err, folio.ErrNotDirectory, "test.folio@s:f/x")
	_, err = v.Restore(t.Context(), "s", "../f", nil)
	wantPath(err, folio.ErrEscapes, "@s:../f")
	hasty := Again(t, v, &folio.Options{BusyTimeout: -1})
	must.Do(t, hasty.Update(t.Context(), func(tx *folio.Tx) error {
		_, err := hasty.Restore(t.Context(), "s", "f", nil)
		wantPath(err, folio.ErrBusy, "@s")
		return nil
	}))
	_, err = Again(t, v, &folio.Options{ReadOnly: true}).Restore(t.Context(), "s", "f", nil)
	wantPath(err, folio.ErrReadOnly, "f")
	at, err := v.OpenSnapshot(t.Context(), "s")
	must.Do(t, err)
	_, err = at.Restore(t.Context(), "s", "f", nil)
	wantPath(err, errors.ErrUnsupported, "@s@s")
	must.Do(t, at.Close())
	if got := ReadAll(t, v, "f"); got != "new" {
		t.Errorf("%q", got)
	}
}

// TestRestoreOpen reads files that are open while they are restored.
func TestRestoreOpen(t *testing.T) {
	t.Parallel()
	v := Empty(t)
	must.Do(t, v.WriteFile("kept", []byte("old"), 0o640))
	must.Do(t, v.CreateSnapshot(t.Context(), "s"))
	must.Do(t, v.WriteFile("new", []byte("to be removed"), 0o640))
	kept, err := v.OpenFile("kept", 2, 0)
	must.Do(t, err)
	defer kept.Close()
	_, err = kept.WriteAt([]byte("NEWER"), 0)
	must.Do(t, err)
	gone, err := v.Open("new")
	must.Do(t, err)
	defer gone.Close()
	_, err = v.Restore(t.Context(), "s", ".", nil)
	must.Do(t, err)
	p := make([]byte, 100)
	if n, _ := kept.ReadAt(p, 0); string(p[:n]) != "old" {
		t.Errorf("a file that stays shows %q", p[:n])
	}
	if n, _ := gone.ReadAt(p, 0); string(p[:n]) != "to be removed" {
		t.Errorf("a file that was removed shows %q", p[:n])
	}
	_, err = kept.WriteAt([]byte("OLD"), 0)
	must.Do(t, err)
	if got := ReadAll(t, v, "kept"); got != "OLD" {
		t.Errorf("%q", got)
	}
	if list, err := v.ReadDir("."); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}

// TestRestoreSparse restores a file with holes: they come back, and only what differs is written.
func TestRestoreSparse(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	t.Parallel()
	v := Empty(t)
	const size = 100 << 20
	f, err := v.Create("f")
	must.Do(t, err)
	defer f.Close()
	_, err = f.WriteAt([]byte("middle"), size/2)
	must.Do(t, err)
	must.Do(t, f.Truncate(size))
	must.Do(t, v.CreateSnapshot(t.Context(), "s"))
	was := takeCopy(t, v)["f"]
	for _, off := range []int64{1, size/2 + 2, size - 5, size + 1_000_000} {
		_, err = f.WriteAt([]byte("changed"), off)
		must.Do(t, err)
	}
	report, err := v.Restore(t.Context(), "s", "f", nil)
	must.Do(t, err)
	now := takeCopy(t, v)["f"]
	if now.alike(true) != was.alike(true) || now.node.Holes != was.node.Holes {
		t.Errorf("%+v, want %+v", now.node, was.node)
	}
	if report.Bytes == 0 || report.Bytes > 1<<20 || report.Changed != 1 {
		t.Errorf("%+v", report)
	}
	must.Do(t, v.Remove("f"))
	report, err = v.Restore(t.Context(), "s", "f", nil)
	must.Do(t, err)
	if now := takeCopy(t, v)["f"]; now.alike(false) != was.alike(false) || now.node.Holes != was.node.Holes || report.Bytes > 1<<20 {
		t.Errorf("made: %+v, want %+v, %+v", now.node, was.node, report)
	}
	WantClean(t, v)
}

// TestRestoreEqual replaces files by equal ones, as an import of the same tree does: they stay.
func TestRestoreEqual(t *testing.T) {
	t.Parallel()
	v := Empty(t)
	fill := func() {
		must.Do(t, v.MkdirAll("d/e", 0o755))
		for _, name := range []string{"d/a", "d/b", "d/e/c"} {
			must.Do(t, v.WriteFile(name, random.Bytes(rand.New(rand.NewPCG(1, 1)), 200_000), 0o644))
			must.Do(t, v.SetXattr(name, "user.x", []byte(name)))
			must.Do(t, v.Chtimes(name, time.Unix(1, 0), time.Unix(2, 0)))
		}
		for _, name := range []string{"d/e", "d"} {
			must.Do(t, v.Chtimes(name, time.Unix(1, 0), time.Unix(2, 0)))
		}
	}
	fill()
	must.Do(t, v.CreateSnapshot(t.Context(), "s"))
	must.Do(t, v.RemoveAll("d"))
	fill()
	must.Do(t, v.SetXattr("d/b", "user.x", []byte("other")))
	now := takeCopy(t, v)
	report, err := v.Restore(t.Context(), "s", "d", nil)
	must.Do(t, err)
	// d/b comes back as a new inode, and d gets its time again.
	if report.Equal != 3 || report.Changed != 2 || report.Made != 0 || report.Removed != 0 {
		t.Errorf("%+v", report)
	}
	for name, f := range takeCopy(t, v) {
		if same := f.node.Ino == now[name].node.Ino; same == (name == "d/b") {
			t.Errorf("%s: inode %d, and was %d", name, f.node.Ino, now[name].node.Ino)
		}
	}
	WantClean(t, v)
}

// TestRestoreFull has no room: all stays as it was.
func TestRestoreFull(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	v := Limited(t, size)
	for _, name := range []string{"a", "b"} {
		must.Do(t, v.WriteFile(name, bytes.Repeat([]byte(name), size/3), 0o644))
	}
	must.Do(t, v.CreateSnapshot(t.Context(), "s"))
	must.Do(t, v.Remove("a"))
	must.Do(t, v.Remove("b"))
	must.Do(t, v.WriteFile("c", []byte("new"), 0o644))
	before := takeCopy(t, v)
	_, err := v.Restore(t.Context(), "s", ".", nil)
	WantFull(t, "Restore", err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.Restore(ctx, "s", ".", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if !maps.Equal(takeCopy(t, v), before) {
		t.Error("the volume was changed")
	}
	WantClean(t, v)
}

// TestRestoreSQL changes contents, names and extended attributes by SQL, without a word to their
// inodes. Restore sees them, in the whole volume and in a part of it.
func TestRestoreSQL(t *testing.T) {
	t.Parallel()
	for _, top := range []string{".", "d"}[:InQuick(1, 2)] {
		for _, change := range []string{
			"UPDATE data SET bytes = CAST('other' AS BLOB) WHERE id = (SELECT ino << 28 FROM entry WHERE name = 'f')",
			"UPDATE xattr SET value = x'00'",
			"UPDATE entry SET ino = (SELECT ino FROM entry WHERE name = 'g') WHERE name = 'f'",
			"UPDATE entry SET name = 'h' WHERE name = 'f'",
			"DELETE FROM entry WHERE name = 'f'",
			"DELETE FROM entry WHERE name = 'e'",
			"DELETE FROM entry WHERE name = 'd'",
			"INSERT INTO entry SELECT parent, 'h', ino, type FROM entry WHERE name = 'f'",
			"UPDATE node SET mode = 33152 WHERE ino = (SELECT ino FROM entry WHERE name = 'f')",
			"UPDATE node SET nlink = 7, mtime_ns = 1 WHERE ino = (SELECT ino FROM entry WHERE name = 'e')",
		} {
			v := Empty(t)
			must.Do(t, v.MkdirAll("d/e", 0o755))
			must.Do(t, v.MkdirAll("x/y", 0o755))
			must.Do(t, v.WriteFile("d/e/f", []byte("first"), 0o644))
			must.Do(t, v.WriteFile("d/e/g", []byte("second"), 0o644))
			must.Do(t, v.WriteFile("x/y/z", []byte("third"), 0o644))
			must.Do(t, v.SetXattr("d/e/f", "user.x", []byte("value")))
			must.Do(t, v.CreateSnapshot(t.Context(), "s"))
			was := takeCopy(t, v)
			info, err := v.Info(t.Context())
			must.Do(t, err)
			sqlite(t, info.Path, change)
			_, err = v.Restore(t.Context(), "s", top, nil)
			must.Do(t, err)
			now := takeCopy(t, v)
			for name, f := range was {
				if got, ok := now[name]; isIn(name, top) && (!ok || got.alike(false) != f.alike(false)) {
					t.Errorf("%s of %s: %s: %s, want %s", name, top, change, got.alike(false), f.alike(false))
				}
			}
			if len(now) != len(was) {
				t.Errorf("%s of %s: %d files, want %d", change, top, len(now), len(was))
			}
			must.Do(t, v.Close())
		}
	}
}
