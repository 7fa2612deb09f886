//go:build linux || darwin

package mirror

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/disk"
)

// A pair is a directory on disk and a volume.
type pair struct {
	*testing.T
	dir      string
	v        *folio.Volume
	warnings []string
	before   func(entries []*tree.Entry) // is called before Apply
}

func newPair(t *testing.T) *pair {
	t.Helper()
	work := t.TempDir()
	p := &pair{T: t, dir: filepath.Join(work, "src")}
	v, err := folio.Open(filepath.Join(work, "v.folio"), &folio.Options{Create: true})
	p.must(err, os.Mkdir(p.dir, 0o755))
	t.Cleanup(func() { _ = v.Close() })
	p.v = v
	return p
}

func (p *pair) must(errs ...error) {
	p.Helper()
	if err := errors.Join(errs...); err != nil {
		p.Fatal(err)
	}
}

func (p *pair) path(name string) string { return filepath.Join(p.dir, name) }

// write makes a file at a time long ago.
func (p *pair) write(name, content string) {
	p.Helper()
	at := time.Unix(1e9, int64(len(content)))
	p.must(os.WriteFile(p.path(name), []byte(content), 0o644), os.Chtimes(p.path(name), at, at))
}

// A meddler does something before each Apply.
type meddler struct {
	*mirror
	before func(entries []*tree.Entry)
}

func (m meddler) Apply(entries []*tree.Entry) error {
	if m.before != nil {
		m.before(entries)
	}
	return m.mirror.Apply(entries)
}

// sync mirrors the directory and returns what was done, as "kind path".
func (p *pair) sync(dir string, o Options) (done []string, stats Stats, err error) {
	p.Helper()
	tree, err := disk.OpenDir(p.dir, &tree.Options{})
	p.must(err)
	defer tree.Close()
	o.Warn = func(path string, why error) { p.warnings = append(p.warnings, path+": "+why.Error()) }
	o.Changed = func(c Change) { done = append(done, fmt.Sprintf("%d %s", c.Kind, c.Path)) }
	m := newMirror(p.Context(), p.v, dir, &o)
	stats, err = m.run(tree, meddler{m, p.before})
	return done, stats, err
}

// wantSync mirrors and checks what was done.
func (p *pair) wantSync(dir string, want ...string) {
	p.Helper()
	done, _, err := p.sync(dir, Options{Delete: true})
	if p.must(err); !slices.Equal(done, want) {
		p.Errorf("did %q, want %q", done, want)
	}
	report, err := p.v.Check(p.Context(), nil)
	if p.must(err); !report.OK() {
		p.Errorf("%+v", report.Problems)
	}
}

// wantFile checks a content in the volume.
func (p *pair) wantFile(name, want string) {
	p.Helper()
	if got, err := p.v.ReadFile(name); err != nil || string(got) != want {
		p.Errorf("%s: %.20q, %v; want %.20q", name, got, err, want)
	}
}

func did(kind Kind, path string) string { return fmt.Sprintf("%d %s", kind, path) }

// An extended attribute is noticed even if it changes right after the sync, in the same tick of the
// clock.
func TestXattrs(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.write("f", "x")
	p.must(os.Mkdir(p.path("d"), 0o755))
	if err := unix.Setxattr(p.path("f"), "user.a", []byte("1"), 0); err != nil {
		t.Skip("no extended attributes here:", err)
	}
	p.must(unix.Setxattr(p.path("d"), "user.d", []byte("1"), 0))
	p.wantSync("in", did(New, "d"), did(New, "f"), did(Attributes, "."))
	p.wantXattrs("in/f", map[string][]byte{"user.a": []byte("1")})
	p.wantXattrs("in/d", map[string][]byte{"user.d": []byte("1")})
	p.must(unix.Setxattr(p.path("f"), "user.a", []byte("2"), 0), unix.Setxattr(p.path("f"), "user.b", nil, 0))
	p.wantSync("in", did(Attributes, "f"))
	p.wantXattrs("in/f", map[string][]byte{"user.a": []byte("2"), "user.b": {}})
	p.must(unix.Removexattr(p.path("f"), "user.a"), unix.Removexattr(p.path("d"), "user.d"))
	p.wantSync("in", did(Attributes, "f"), did(Attributes, "d"))
	p.wantXattrs("in/f", map[string][]byte{"user.b": {}})
	p.wantXattrs("in/d", nil)
	p.must(p.v.SetXattr("in/f", "user.c", []byte("3"))) // in the volume
	p.wantSync("in", did(Attributes, "f"))
	p.wantXattrs("in/f", map[string][]byte{"user.b": {}})
	p.wantSync("in")
}

func (p *pair) wantXattrs(name string, want map[string][]byte) {
	p.Helper()
	if got, err := p.v.Xattrs(name); err != nil || !maps.EqualFunc(got, want, bytes.Equal) {
		p.Errorf("%s: %q, %v; want %q", name, got, err, want)
	}
}

// Names that are one file on disk become one in the volume, others do not stay one, and names
// elsewhere in the volume are left alone (M4).
func TestLinks(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.write("a", "same")
	p.write("b", "same")
	p.wantSync("in", did(New, "a"), did(New, "b"), did(Attributes, "."))

	p.must(os.Remove(p.path("b")), os.Link(p.path("a"), p.path("b")))
	p.wantSync("in", did(Linked, "b"), did(Attributes, "."))
	p.wantOne("in/a", "in/b", true)
	p.wantSync("in")

	p.must(os.Remove(p.path("b")))
	p.write("b", "same")
	p.wantSync("in", did(Changed, "b"), did(Attributes, "."))
	p.wantOne("in/a", "in/b", false)

	p.must(p.v.Link("in/a", "out"), os.Chmod(p.path("a"), 0o600))
	p.wantSync("in", did(Changed, "a"))
	p.wantOne("in/a", "out", false)
	info, err := p.v.Stat("out")
	if p.must(err); info.Mode() != 0o644 {
		t.Errorf("out has mode %v", info.Mode())
	}
	p.wantFile("out", "same")

	p.must(os.Link(p.path("a"), p.path("0"))) // it comes first, and is the other's name then
	p.wantSync("in", did(New, "0"), did(Linked, "a"), did(Attributes, "."))
	p.wantOne("in/0", "in/a", true)
}

func (p *pair) wantOne(a, b string, want bool) {
	p.Helper()
	x, errX := p.v.Lstat(a)
	y, errY := p.v.Lstat(b)
	if p.must(errX, errY); (x.Sys().(*folio.Node).Ino == y.Sys().(*folio.Node).Ino) != want {
		p.Errorf("%s and %s are one file: %t", a, b, !want)
	}
}

// A large file that changes while it is read stays as it was, whatever was done before it and
// after.
func TestLargeFileChanges(t *testing.T) {
	t.Parallel()
	const large = 8 << 20
	for _, size := range []int64{1, large - 1, large + 1, large} {
		p := newPair(t)
		p.write("b", "old")
		p.wantSync("in", did(New, "b"), did(Attributes, "."))
		p.write("a", "new")
		p.write("c", "new")
		p.write("b", strings.Repeat("x", large)) // no holes: they would be read ahead
		p.must(os.Link(p.path("b"), p.path("d")))
		p.before = func(entries []*tree.Entry) {
			if e := entries[len(entries)-1]; e.Content != nil {
				p.must(os.Truncate(p.path("b"), size))
			}
		}
		done, stats, err := p.sync("in", Options{})
		if want := []string{did(New, "a"), did(New, "c"), did(Attributes, ".")}; err != nil || stats.Skipped != 2 || !slices.Equal(done, want) {
			t.Errorf("size %d: did %q, %+v, %v", size, done, stats, err)
		}
		if got := strings.Join(p.warnings, ", "); got != "b: changed while it was read, d: "+ErrFirst.Error() {
			t.Errorf("size %d: %s", size, got)
		}
		p.wantFile("in/b", "old")
		p.before = nil
		p.wantSync("in", did(Changed, "b"), did(Linked, "d"))
	}
}

// Who has a file open while it is replaced goes on reading what it was (M1).
func TestReplacedWhileOpen(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.write("f", "before")
	p.wantSync(".", did(New, "f"), did(Attributes, "."))
	f, err := p.v.Open("f")
	p.must(err)
	defer f.Close()
	p.write("f", "afterwards")
	p.wantSync(".", did(Changed, "f"))
	var got [100]byte
	if n, _ := f.ReadAt(got[:], 0); string(got[:n]) != "before" {
		t.Errorf("the open file holds %q", got[:n])
	}
	p.wantFile("f", "afterwards")
}

// Somebody else changes the volume between the comparison and the transaction.
func TestVolumeChanges(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.write("f", "x")
	p.before = func([]*tree.Entry) { p.must(p.v.WriteFile("f", []byte("other"), 0o600)) }
	_, _, err := p.sync(".", Options{})
	if e, ok := errors.AsType[*fs.PathError](err); !errors.Is(err, tree.ErrMeanwhile) || !ok || e.Path != "f" {
		t.Errorf("got %v", err)
	}
	p.wantFile("f", "other")
}

// A symbolic link in the volume where a directory belongs is replaced, not followed.
func TestSymlinksInVolume(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.must(os.Mkdir(p.path("d"), 0o755))
	p.write("d/f", "x")
	p.must(p.v.MkdirAll("other", 0o755), p.v.WriteFile("other/f", []byte("stays"), 0o600), p.v.Mkdir("in", 0o755), p.v.Symlink("../other", "in/d"))
	p.wantSync("in", did(Changed, "d"), did(Attributes, "."), did(New, "d/f"))
	p.wantFile("other/f", "stays")
	p.wantFile("in/d/f", "x")
}

func TestDevices(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	if err := unix.Mknod(p.path("null"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))); err != nil {
		t.Skip("cannot make devices:", err)
	}
	p.wantSync(".", did(New, "null"), did(Attributes, "."))
	p.wantSync(".")
	p.must(os.Remove(p.path("null")), unix.Mknod(p.path("null"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5))))
	p.wantSync(".", did(Changed, "null"), did(Attributes, "."))
}

func TestSameTime(t *testing.T) {
	t.Parallel()
	tests := []struct {
		t    time.Time
		ns   int64
		want bool
	}{
		{time.Unix(1, 2), 1e9 + 2, true},
		{time.Unix(1, 2), 1e9 + 3, false},
		{time.Unix(-1, 2), -1e9 + 2, true},
		{time.Date(2400, 1, 1, 0, 0, 0, 0, time.UTC), math.MaxInt64, true},
		{time.Date(2400, 1, 1, 0, 0, 0, 0, time.UTC), 0, false},
		{time.Date(1500, 1, 1, 0, 0, 0, 0, time.UTC), math.MinInt64, true},
	}
	for _, tt := range tests {
		if got := tree.SameTime(tt.t, time.Unix(0, tt.ns)); got != tt.want {
			t.Errorf("%v and %d: %t", tt.t, tt.ns, got)
		}
	}
}
