package overlay_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native"
	"github.com/foliofs/folio/internal/store/overlay"
)

// then is the time of modification of the files of a base.
var then = time.Unix(1_000_000_000, 0)

// large is longer than a chunk.
var large = strings.Repeat("0123456789abcdef", 10_000)

// newBase returns the base of these tests.
func newBase() fstest.MapFS {
	file := func(content string, mode fs.FileMode) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(content), Mode: mode, ModTime: then}
	}
	return fstest.MapFS{
		"f": file("content", 0o644), "large": file(large, 0o600), "d/a": file("a", 0o644), "d/sub/b": file("b", 0o644),
		"link": file("f", fs.ModeSymlink|0o777), "out": file("/etc/passwd", fs.ModeSymlink|0o777), "fifo": file("", fs.ModeNamedPipe|0o600),
		"d": file("", fs.ModeDir|0o755), "d/sub": file("", fs.ModeDir|0o755), "odd": file("", fs.ModeIrregular),
	}
}

// A faultyFS fails for some names.
type faultyFS struct {
	fstest.MapFS
	fails map[string]error
}

func (f faultyFS) Open(name string) (fs.File, error) {
	if err := f.fails[name]; err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return f.MapFS.Open(name)
}

func (f faultyFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := f.fails[name]; err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return f.MapFS.ReadDir(name)
}

func (f faultyFS) Lstat(name string) (fs.FileInfo, error) {
	if err := f.fails["stat "+name]; err != nil {
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	return f.MapFS.Lstat(name)
}

// A world is an overlay, with its base and its upper store.
type world struct {
	*overlay.Store
	t     *testing.T
	base  faultyFS
	upper store.Store
	path  string // of upper
}

func newWorld(t *testing.T, o *overlay.Options) *world {
	t.Helper()
	upper, path := newUpper(t)
	base := faultyFS{newBase(), make(map[string]error)}
	w := &world{overlay.New(base, upper, o), t, base, upper, path}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// again opens the overlay once more.
func (w *world) again() *world {
	w.t.Helper()
	upper := upperAt(w.t, w.path)
	other := &world{overlay.New(w.base, upper, nil), w.t, w.base, upper, w.path}
	w.t.Cleanup(func() { _ = other.Close() })
	return other
}

// lookup returns the inode of a path.
func lookup(rx store.Rx, name string) (store.Ino, error) {
	ino := store.Root
	for elem := range strings.SplitSeq(name, "/") {
		e, err := rx.Lookup(ino, elem)
		if err != nil {
			return 0, err
		}
		ino = e.Ino
	}
	return ino, nil
}

// change calls fn with the inode of a path, in a transaction.
func (w *world) change(name string, fn func(tx store.Tx, n *store.Node) error) error {
	return w.Update(context.Background(), func(tx store.Tx) error {
		ino, err := lookup(tx, name)
		if err != nil {
			return err
		}
		n, err := tx.Node(ino)
		if err == nil {
			err = fn(tx, &n)
		}
		return err
	})
}

func (w *world) chmod(name string) error {
	return w.change(name, func(tx store.Tx, n *store.Node) error { n.Mode ^= 1; return tx.Put(n) })
}

func (w *world) write(name, text string, off int64) error {
	return w.change(name, func(tx store.Tx, n *store.Node) error {
		return errors.Join(tx.WriteAt(n, []byte(text), off), tx.Put(n))
	})
}

// remove removes a name and, if it is the only one, the file, as package folio does.
func (w *world) remove(name string) error {
	return w.change(name, func(tx store.Tx, n *store.Node) error {
		dir, err := lookupDir(tx, name)
		if err != nil {
			return err
		}
		return errors.Join(tx.Unlink(dir, filepath.Base(name)), tx.Orphan(n))
	})
}

func lookupDir(rx store.Rx, name string) (store.Ino, error) {
	if !strings.Contains(name, "/") {
		return store.Root, nil
	}
	return lookup(rx, filepath.Dir(name))
}

// make makes a file or a directory.
func (w *world) make(name string, mode uint32) error {
	return w.Update(context.Background(), func(tx store.Tx) error {
		dir, err := lookupDir(tx, name)
		if err != nil {
			return err
		}
		n := store.Node{Mode: mode, Nlink: 1}
		if store.TypeOf(mode) == store.Dir {
			n.Nlink = 2
		}
		return errors.Join(tx.Insert(&n), tx.Link(dir, store.Entry{Name: filepath.Base(name), Ino: n.Ino, Type: store.TypeOf(mode)}))
	})
}

// see says what every reading method tells of a path.
func (w *world) see(name string) string {
	rx, err := w.Begin(context.Background())
	if err != nil {
		return err.Error()
	}
	defer rx.End()
	dir, err := lookupDir(rx, name)
	if err != nil {
		return "no directory"
	}
	listed := "unlisted"
	var l store.Listing
	if err := rx.List(dir, "", 0, &l); err != nil {
		listed = "list: " + err.Error()
	}
	for _, e := range l.Entries() {
		if e.Name == filepath.Base(name) {
			listed = "listed"
		}
	}
	e, err := rx.Lookup(dir, filepath.Base(name))
	if err != nil {
		return fmt.Sprintf("%s, %v", listed, err)
	}
	n, err := rx.Node(e.Ino)
	if err != nil {
		return fmt.Sprintf("%s, node: %v", listed, err)
	}
	if n.Ino != e.Ino || store.TypeOf(n.Mode) != e.Type {
		return "node and entry differ"
	}
	text := fmt.Sprintf("%s, %o", listed, n.Mode)
	if n.IsRegular() || e.Type == store.Symlink {
		text += " " + contentText(rx, n)
	}
	if e.Type == store.Dir {
		text += fmt.Sprint(" links ", n.Nlink)
	}
	attrs, err := rx.Xattrs(e.Ino)
	if len(attrs) > 0 || err != nil {
		text += fmt.Sprint(" ", attrs, err)
	}
	return text
}

func contentText(rx store.Rx, n store.Node) string {
	p := make([]byte, n.Size)
	if len(p) > 0 {
		if _, err := rx.ReadAt(n, p, 0); err != nil && err != io.EOF {
			return err.Error()
		}
	}
	if len(p) > 20 {
		return fmt.Sprintf("%d bytes", len(p))
	}
	return fmt.Sprintf("%q", p)
}

const missing = "unlisted, file does not exist"

// TestSeen has a row for each state of a name: what is done to come there, and what is seen then,
// and after the name was removed. A row is seen alike when the overlay is opened again.
func TestSeen(t *testing.T) {
	t.Parallel()
	none := func(*world) error { return nil }
	for name, tt := range map[string]struct {
		do         func(w *world) error
		at         string
		want, gone string // gone is "" if the name cannot be removed
	}{
		"nothing":            {none, "none", missing, ""},
		"base only":          {none, "f", `listed, 100644 "content"`, missing},
		"link":               {none, "link", `listed, 120777 "f"`, missing},
		"link out":           {none, "out", `listed, 120777 "/etc/passwd"`, missing},
		"fifo":               {none, "fifo", "listed, 10600", missing},
		"of no type":         {none, "odd", missing, ""},
		"dir":                {none, "d", "listed, 40755 links 3", missing},
		"in a dir":           {none, "d/a", `listed, 100644 "a"`, missing},
		"in no dir":          {none, "f/a", missing, ""},
		"upper only":         {func(w *world) error { return w.make("new", store.ModeRegular|0o600) }, "new", `listed, 100600 ""`, missing},
		"upper, in base dir": {func(w *world) error { return w.make("d/sub/new", store.ModeRegular|0o600) }, "d/sub/new", `listed, 100600 ""`, missing},
		"attributes":         {func(w *world) error { return w.chmod("f") }, "f", `listed, 100645 "content"`, missing},
		"attributes of link": {func(w *world) error { return w.chmod("link") }, "link", `listed, 120776 "f"`, missing},
		"attributes of dir":  {func(w *world) error { return w.chmod("d") }, "d", "listed, 40754 links 3", missing},
		"content":            {func(w *world) error { return w.write("f", "XY", 2) }, "f", `listed, 100644 "coXYent"`, missing},
		"part":               {func(w *world) error { return w.write("large", "XY", 2) }, "large", "listed, 100600 160000 bytes", missing},
		"attribute": {func(w *world) error {
			return w.change("f", func(tx store.Tx, n *store.Node) error { return tx.SetXattr(n.Ino, "trusted.overlay.x", []byte("v")) })
		}, "f", `listed, 100644 "content" [{trusted.overlay.x [118]}] <nil>`, missing},
		"removed":        {func(w *world) error { return w.remove("f") }, "f", missing, ""},
		"removed in dir": {func(w *world) error { return w.remove("d/sub/b") }, "d/sub", "listed, 40755 links 2", missing},
		"dir, one removed": {func(w *world) error {
			return errors.Join(w.remove("d/sub/b"), w.remove("d/sub"))
		}, "d", "listed, 40755 links 2", missing},
		"made again": {func(w *world) error { return errors.Join(w.remove("f"), w.make("f", store.ModeRegular)) }, "f", `listed, 100000 ""`, missing},
		"opaque": {func(w *world) error {
			return errors.Join(w.remove("d/sub/b"), w.remove("d/sub"), w.make("d/sub", store.ModeDir|0o700))
		}, "d/sub", "listed, 40700 links 2", missing},
		"in opaque": {func(w *world) error {
			return errors.Join(w.remove("d/sub/b"), w.remove("d/sub"), w.make("d/sub", store.ModeDir|0o700))
		}, "d/sub/b", missing, ""},
		"base file gone":         {func(w *world) error { delete(w.base.MapFS, "f"); return nil }, "f", missing, ""},
		"copy of what is gone":   {func(w *world) error { err := w.chmod("f"); delete(w.base.MapFS, "f"); return err }, "f", "listed, 100645 " + overlay.ErrBaseChanged.Error(), missing},
		"copied link of gone":    {func(w *world) error { err := w.chmod("link"); delete(w.base.MapFS, "link"); return err }, "link", `listed, 120776 "f"`, missing},
		"changed below":          {func(w *world) error { w.base.MapFS["f"].Data = []byte("other"); return nil }, "f", `listed, 100644 "other"`, missing},
		"copy, changed below":    {func(w *world) error { err := w.chmod("f"); w.touch("f"); return err }, "f", "listed, 100645 " + overlay.ErrBaseChanged.Error(), missing},
		"written, changed below": {func(w *world) error { err := w.write("f", "XY", 2); w.touch("f"); return err }, "f", `listed, 100644 "coXYent"`, missing},
		"whiteout, gone below":   {func(w *world) error { err := w.remove("f"); delete(w.base.MapFS, "f"); return err }, "f", missing, ""},
		"another type below": {func(w *world) error {
			err := w.chmod("f")
			w.base.MapFS["f"] = &fstest.MapFile{Mode: fs.ModeDir | 0o755, ModTime: then}
			return err
		}, "f", "listed, 100645 " + overlay.ErrBaseChanged.Error(), missing},
		"copied dir is a file now": {func(w *world) error {
			err := w.chmod("d/sub")
			delete(w.base.MapFS, "d/sub/b")
			w.base.MapFS["d/sub"] = &fstest.MapFile{Mode: 0o644, ModTime: then}
			return err
		}, "d/sub", "listed, 40754 links 2", missing},
		"unreadable file": {func(w *world) error { w.base.fails["f"] = fs.ErrPermission; return nil }, "f", "listed, 100644 permission denied", missing},
		"unreadable name": {func(w *world) error { w.base.fails["stat f"] = fs.ErrPermission; return nil }, "f", "listed, permission denied", ""},
		"unreadable dir":  {func(w *world) error { w.base.fails["d"] = fs.ErrPermission; return nil }, "d/a", `list: permission denied, 100644 "a"`, missing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			must.Do(t, tt.do(w))
			for _, w := range []*world{w, w.again()} {
				if got := w.see(tt.at); got != tt.want {
					t.Errorf("%s: %s, want %s", tt.at, got, tt.want)
				}
			}
			err := w.remove(tt.at)
			if (err == nil) != (tt.gone != "") {
				t.Fatalf("removed: %v", err)
			}
			delete(w.base.fails, "d")
			for _, w := range []*world{w, w.again()} {
				if got := w.see(tt.at); tt.gone != "" && got != tt.gone {
					t.Errorf("removed, %s: %s, want %s", tt.at, got, tt.gone)
				}
			}
			w.clean()
		})
	}
}

// touch gives a file of the base another time of modification.
func (w *world) touch(name string) {
	f := *w.base.MapFS[name]
	f.ModTime = then.Add(time.Second)
	w.base.MapFS[name] = &f
}

func (w *world) clean() {
	w.t.Helper()
	r, err := w.Check(context.Background(), nil)
	must.Do(w.t, err)
	if !r.OK() {
		w.t.Errorf("%+v", r.Problems)
	}
}

// TestNumber checks that a file keeps its number when it is copied up, moved, and when the
// transaction is rolled back.
func TestNumber(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	before := w.ino("d/sub/b")
	back := errors.New("back")
	for range 2 {
		err := w.change("d/sub/b", func(tx store.Tx, n *store.Node) error {
			if err := errors.Join(tx.WriteAt(n, []byte("x"), 0), tx.Put(n)); err != nil || n.Ino != before {
				t.Errorf("%v, %d", err, n.Ino)
			}
			return back
		})
		if !errors.Is(err, back) || w.ino("d/sub/b") != before || w.see("d/sub/b") != `listed, 100644 "b"` {
			t.Errorf("%v: %d, want %d: %s", err, w.ino("d/sub/b"), before, w.see("d/sub/b"))
		}
	}
	func() {
		defer func() { _ = recover() }()
		_ = w.change("d/sub/b", func(tx store.Tx, n *store.Node) error {
			_ = tx.Put(n)
			panic("on purpose")
		})
	}()
	if r, err := w.upper.Check(t.Context(), nil); err != nil || r.Nodes != 1 {
		t.Errorf("%v, %+v", err, r)
	}
	must.Do(t, w.chmod("d/sub/b"))
	must.Do(t, w.Update(t.Context(), func(tx store.Tx) error {
		dir, err := lookup(tx, "d/sub")
		return errors.Join(err, tx.Unlink(dir, "b"), tx.Link(store.Root, store.Entry{Name: "moved", Ino: before, Type: store.File}))
	}))
	if w.ino("moved") != before {
		t.Errorf("%d, want %d", w.ino("moved"), before)
	}
	w.clean()
}

func (w *world) ino(name string) store.Ino {
	w.t.Helper()
	rx, err := w.Begin(context.Background())
	must.Do(w.t, err)
	defer rx.End()
	ino, err := lookup(rx, name)
	must.Do(w.t, err)
	return ino
}

// TestPinned removes a file of the base that is pinned, in a transaction that is rolled back and in
// one that is not. The content must stay until the file is unpinned.
func TestPinned(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ino := w.ino("large")
	must.Do(t, w.Pin(ino))
	back := errors.New("back")
	_ = w.change("large", func(tx store.Tx, n *store.Node) error {
		return errors.Join(tx.Unlink(store.Root, "large"), tx.Orphan(n), back)
	})
	must.Do(t, w.remove("large"))
	read := func() (int, error) {
		rx, err := w.Begin(context.Background())
		must.Do(t, err)
		defer rx.End()
		n, err := rx.Node(ino)
		if err != nil {
			return 0, err
		}
		p := make([]byte, n.Size)
		return rx.ReadAt(n, p, 0)
	}
	if n, err := read(); n != len(large) || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	w.Unpin(ino)
	if _, err := read(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("unpinned: %v", err)
	}
	w.clean()
}

// TestSnapshot reads a snapshot that is older than a copy.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	must.Do(t, w.make("first", store.ModeRegular)) // from then on there is a log, and writers do not wait for readers
	rx, err := w.Begin(t.Context())
	must.Do(t, err)
	defer rx.End()
	ino, err := lookup(rx, "f")
	must.Do(t, err)
	must.Do(t, w.write("f", "XY", 0))
	if n, err := rx.Node(ino); err != nil || contentText(rx, n) != `"content"` {
		t.Errorf("%+v, %v: %s", n, err, contentText(rx, n))
	}
	must.Do(t, w.remove("f"))
	if n, err := rx.Node(ino); err != nil || contentText(rx, n) != `"content"` {
		t.Errorf("removed: %+v, %v: %s", n, err, contentText(rx, n))
	}
	if _, err := rx.Lookup(store.Root, "f"); err != nil {
		t.Error(err)
	}
}

// TestFull copies a file to an upper store that has too little room.
func TestFull(t *testing.T) {
	t.Parallel()
	upper, _ := newUpper(t)
	upper.(*native.Store).Limit(1 << 20)
	base := newBase()
	base["huge"] = &fstest.MapFile{Data: bytes.Repeat([]byte("x"), 4<<20), ModTime: then}
	w := &world{overlay.New(base, upper, &overlay.Options{CopyWholeFile: true}), t, faultyFS{}, upper, ""}
	defer w.Close()
	ino := w.ino("huge")
	for range 2 {
		if err := w.chmod("huge"); !errors.Is(err, store.ErrFull) {
			t.Errorf("%v, want ErrFull", err)
		}
	}
	if got := w.see("huge"); got != "listed, 100000 4194304 bytes" || w.ino("huge") != ino {
		t.Error(got)
	}
	must.Do(t, w.chmod("f"))
	must.Do(t, w.remove("huge"))
	if most := w.Features().MaxSize; most != 1<<20 {
		t.Error(most)
	}
	w.clean()
}

// TestPunch punches holes into a file of which chunks are in the base, and cuts it off.
func TestPunch(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ off, size int64 }{
		"chunk": {store.ChunkSize, store.ChunkSize}, "part": {100, 200}, "across": {store.ChunkSize - 50, store.ChunkSize + 100},
		"all": {0, int64(len(large))}, "end": {int64(len(large)) - 10, 10}, "last": {2 * store.ChunkSize, int64(len(large)) - 2*store.ChunkSize},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			want := []byte(large)
			punch := func(tx store.Tx, n *store.Node) error {
				return errors.Join(tx.(store.HolePuncher).PunchHole(n, tt.off, tt.size), tx.Put(n))
			}
			must.Do(t, w.change("large", punch))
			clear(want[tt.off : tt.off+tt.size])
			w.wantContent("large", want)
			must.Do(t, w.write("large", "after", tt.off+3))
			must.Do(t, w.change("large", punch))
			w.again().wantContent("large", want)
			must.Do(t, w.change("large", func(tx store.Tx, n *store.Node) error {
				return errors.Join(tx.Truncate(n, 70_000), tx.Truncate(n, 150_000), tx.Put(n))
			}))
			want = append(want[:70_000], make([]byte, 80_000)...)
			w.wantContent("large", want)
			w.clean()
		})
	}
}

func (w *world) wantContent(name string, want []byte) {
	w.t.Helper()
	rx, err := w.Begin(context.Background())
	must.Do(w.t, err)
	defer rx.End()
	ino, err := lookup(rx, name)
	must.Do(w.t, err)
	n, err := rx.Node(ino)
	must.Do(w.t, err)
	got := make([]byte, n.Size)
	if _, err := rx.ReadAt(n, got, 0); err != nil || !bytes.Equal(got, want) {
		w.t.Errorf("%d bytes, %v; want %d", len(got), err, len(want))
	}
}

// TestDamaged reads an upper store whose rows make no sense. No method may panic or loop.
func TestDamaged(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(tx store.Tx) error{
		"no record":      func(tx store.Tx) error { return tx.SetXattr(firstUpper, "trusted.overlay.folio", []byte("x")) },
		"a path up":      record("1 100644 7 0 0 7 0 ../f"),
		"a high limit":   record("1 100644 7 0 0 8 0 f"),
		"no number":      record("1 100644 x 0 0 8 0 f"),
		"another record": record("1 40755 0 0 0 0 0 d"),
		"the root":       record("1 40755 0 0 0 0 0 ."),
		"short": func(tx store.Tx) error {
			return tx.Put(&store.Node{Ino: firstUpper, Mode: store.ModeRegular, Nlink: 1, Size: 3, Holes: 3})
		},
		"now a dir": func(tx store.Tx) error { return tx.Put(&store.Node{Ino: firstUpper, Mode: store.ModeDir, Nlink: 2}) },
		"leads nowhere": func(tx store.Tx) error {
			return tx.Link(store.Root, store.Entry{Name: "f", Ino: 999, Type: store.Char})
		},
		"itself": func(tx store.Tx) error {
			return tx.Link(store.Root, store.Entry{Name: "f", Ino: store.Root, Type: store.Dir})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			must.Do(t, w.chmod("f"))
			must.Do(t, w.upper.Update(t.Context(), damage))
			w = w.again()
			_ = w.see("f")
			_ = w.see("f/f")
			for range w.diff() {
			}
			_ = w.write("f", "x", 0)
			_ = w.chmod("f")
			_ = w.remove("f")
			_ = w.see("f")
		})
	}
}

// firstUpper is the first inode that a new upper store gives.
const firstUpper store.Ino = 2

func record(text string) func(tx store.Tx) error {
	return func(tx store.Tx) error { return tx.SetXattr(firstUpper, "trusted.overlay.folio", []byte(text)) }
}

func (w *world) diff() (list []overlay.Change) {
	rx, err := w.Begin(context.Background())
	must.Do(w.t, err)
	defer rx.End()
	for c, err := range w.Diff(context.Background(), rx) {
		if err != nil {
			break
		}
		list = append(list, c)
	}
	return list
}

// TestWhiteoutRefused tries to make what the overlay takes for its own.
func TestWhiteoutRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	if err := w.make("x", store.ModeChar); !errors.Is(err, os.ErrPermission) {
		t.Errorf("%v, want ErrPermission", err)
	}
	must.Do(t, w.make("y", store.ModeChar|0o600))
	if got := w.see("y"); got != "listed, 20600" {
		t.Error(got)
	}
}

// TestConcurrent reads files of the base while other goroutines copy, change and move them. A file
// has its old content or its new one, and always the same number.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	must.Do(t, w.make("first", store.ModeRegular))
	const files = 40
	for i := range files {
		w.base.MapFS[fmt.Sprint("many/", i)] = &fstest.MapFile{Data: []byte("old"), Mode: 0o644, ModTime: then}
	}
	inos := make([]store.Ino, files)
	for i := range inos {
		inos[i] = w.ino(fmt.Sprint("many/", i))
	}
	var wg sync.WaitGroup
	for g := range 2 {
		wg.Go(func() {
			for i := g; i < files; i += 2 {
				if err := w.write(fmt.Sprint("many/", i), "new", 0); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 3 {
		wg.Go(func() {
			for i := range 10 * files {
				if err := w.readOne(inos, i%files); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for i := range inos {
		w.wantContent(fmt.Sprint("many/", i), []byte("new"))
	}
	w.clean()
}

func (w *world) readOne(inos []store.Ino, i int) error {
	if err := w.Pin(inos[i]); err != nil {
		return err
	}
	defer w.Unpin(inos[i])
	rx, err := w.Begin(context.Background())
	if err != nil {
		return err
	}
	defer rx.End()
	ino, err := lookup(rx, fmt.Sprint("many/", i))
	if err != nil || ino != inos[i] {
		return fmt.Errorf("%d is %d, want %d: %w", i, ino, inos[i], err)
	}
	n, err := rx.Node(ino)
	if text := contentText(rx, n); err != nil || text != `"old"` && text != `"new"` {
		return fmt.Errorf("%d: %s, %w", i, text, err)
	}
	return nil
}
