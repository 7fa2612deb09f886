package volumetest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/random"
)

var cloneOps = flag.Int("clone.ops", 3000, "operations of the test of clones")

// TestClones changes two volumes alike at random: one in which trees are cloned, through two
// connections, and one in which they are copied. Both have snapshots, which are made, restored and
// removed, and show the same. More:
//
//	go test ./internal/volumetest -run TestClones$ -clone.ops 1000000 -timeout 4h
func TestClones(t *testing.T) {
	if testing.Short() { // one goroutine does all this
		t.Skip("in one goroutine")
	}
	t.Parallel()
	r := random.New(t)
	v := Empty(t)
	other := Again(t, v, nil)
	h := NewHistory(r, v, v, other)
	h.Model = Empty(t)
	h.Run(t, *cloneOps)
	h.End(t)
	must.Do(t, other.Close())
	must.Do(t, v.Compact(t.Context(), nil))
	wantNoClones(t, v)
}

// wantNoClones fails the test unless a volume is as if it never had clones.
func wantNoClones(t *testing.T, v *folio.Volume) {
	t.Helper()
	info, err := v.Info(t.Context())
	must.Do(t, err)
	got := sqlite(t, info.Path, "PRAGMA user_version; SELECT count(*) FROM sqlite_schema WHERE sql LIKE '%origin%'")
	if got != "1\n0" {
		t.Errorf("%q is left", got)
	}
}

// cloneTree makes a tree with a file of each kind.
func cloneTree(t *testing.T, v *folio.Volume) {
	t.Helper()
	old := time.Date(2020, 1, 2, 3, 4, 5, 6, time.UTC)
	must.Do(t, errors.Join(
		v.Mkdir("d", 0o750), v.Mkdir("d/sub", 0o700),
		v.WriteFile("d/large", bytes.Repeat([]byte("large"), 50_000), 0o640), v.WriteFile("d/small", []byte("small"), 0o600), v.WriteFile("d/empty", nil, 0o600),
		v.Link("d/large", "d/sub/linked"), v.Link("d/large", "outside"), v.Symlink("../large", "d/sub/symbolic"),
		v.Mknod("d/pipe", fs.ModeNamedPipe|0o622, 0), v.Mknod("d/device", fs.ModeDevice|fs.ModeCharDevice|0o600, 0x103),
		v.SetXattr("d/large", "user.a", []byte("value")), v.SetXattr("d", "user.b", nil), v.SetXattr("d/sub/symbolic", "trusted.c", []byte("c")),
		v.Chown("d/small", 7, 8), v.Chmod("d/small", fs.ModeSetuid|0o755),
	))
	for _, name := range []string{"d/large", "d/small", "d/pipe", "d/sub", "d"} {
		must.Do(t, v.Chtimes(name, old.Add(time.Hour), old))
	}
	must.Do(t, v.Lchtimes("d/sub/symbolic", old, old))
}

// TestCloneTree looks at all that a clone takes over.
func TestCloneTree(t *testing.T) {
	t.Parallel()
	v := Empty(t)
	cloneTree(t, v)
	before := Size(t, v)
	must.Do(t, v.Clone("d", "e"))
	if grown := Size(t, v) - before; grown > 100_000 {
		t.Errorf("the volume has grown by %d bytes", grown)
	}
	must.Do(t, v.View(t.Context(), func(rx *folio.Rx) error {
		return fs.WalkDir(rx.FS(), "d", func(name string, _ fs.DirEntry, err error) error {
			must.Do(t, err)
			was, err := copyFile(rx, name)
			must.Do(t, err)
			is, err := copyFile(rx, "e"+name[1:])
			must.Do(t, err)
			if is.node.Ino == was.node.Ino || is.node.Ctime == was.node.Ctime {
				t.Errorf("%s: the inode is %d, of %d", name, is.node.Ino, is.node.Ctime)
			}
			is.node.Ino, is.node.Ctime, was.node.Nlink = was.node.Ino, was.node.Ctime, was.node.Nlink-uint32(bytes.Count([]byte(name), []byte("large"))+bytes.Count([]byte(name), []byte("linked")))
			if is != was {
				t.Errorf("%s: %+v, want %+v", name, is.node, was.node)
			}
			return nil
		})
	}))
	large, err := v.Stat("e/large")
	must.Do(t, err)
	linked, err := v.Stat("e/sub/linked")
	must.Do(t, err)
	if a, b := large.Sys().(*folio.Node), linked.Sys().(*folio.Node); a.Ino != b.Ino || a.Nlink != 2 {
		t.Errorf("%+v, %+v", a, b)
	}
	must.Do(t, v.WriteFile("outside", []byte("changed"), 0o644))
	WantFile(t, v, "e/large", strings.Repeat("large", 50_000))
	WantFile(t, v, "d/large", "changed")
	WantClean(t, v)
	must.Do(t, errors.Join(v.RemoveAll("d"), v.Remove("outside")))
	WantClean(t, v)
	WantFile(t, v, "e/large", strings.Repeat("large", 50_000))
	must.Do(t, v.RemoveAll("e"))
	info, err := v.Info(t.Context())
	must.Do(t, errors.Join(err, v.Close()))
	v = Open(t, info.Path)
	WantClean(t, v)
	wantNoClones(t, v)
}

// TestCloneErrors tries what must fail, and leaves a transaction as it was.
func TestCloneErrors(t *testing.T) {
	t.Parallel()
	v := Empty(t)
	cloneTree(t, v)
	must.Do(t, v.Symlink("d", "to-d"))
	must.Do(t, v.Update(t.Context(), func(tx *folio.Tx) error {
		for _, c := range []struct {
			from, to string
			want     error
			errno    syscall.Errno
		}{
			{"none", "x", fs.ErrNotExist, syscall.ENOENT},
			{"d", "outside", fs.ErrExist, syscall.EEXIST},
			{"d/small", "d", fs.ErrExist, syscall.EEXIST},
			{"d/small", "to-d", fs.ErrExist, syscall.EEXIST},
			{"d", "d", fs.ErrInvalid, syscall.EINVAL},
			{"d", "d/x", fs.ErrInvalid, syscall.EINVAL},
			{"d", "d/sub/x", fs.ErrInvalid, syscall.EINVAL},
			{"d", "to-d/sub/x", fs.ErrInvalid, syscall.EINVAL},
			{".", "x", fs.ErrInvalid, syscall.EINVAL},
			{"d/small", "x/", folio.ErrNotDirectory, syscall.ENOTDIR},
			{"d", "none/x", fs.ErrNotExist, syscall.ENOENT},
			{"d", "outside/x", folio.ErrNotDirectory, syscall.ENOTDIR},
			{"d", "../x", folio.ErrEscapes, 0},
		} {
			err := tx.Clone(c.from, c.to)
			if !errors.Is(err, c.want) || c.errno != 0 && !errors.Is(err, c.errno) {
				t.Errorf("Clone(%q, %q): %v, want %v", c.from, c.to, err, c.want)
			}
		}
		return tx.Clone("to-d", "also-to-d")
	}))
	if target, err := v.Readlink("also-to-d"); err != nil || target != "d" {
		t.Errorf("%q, %v", target, err)
	}
	WantClean(t, v)
	wantNoClones(t, v)
}

// TestCloneElsewhere clones files through one connection while another one is open, and the other
// way round.
func TestCloneElsewhere(t *testing.T) {
	t.Parallel()
	v := Empty(t)
	other := Again(t, v, nil)
	content := strings.Repeat("content", 20_000)
	must.Do(t, v.WriteFile("f", []byte(content), 0o644))
	must.Do(t, other.WriteFile("g", nil, 0o644)) // so that it has written
	must.Do(t, v.Clone("f", "c"))
	WantFile(t, other, "c", content)
	must.Do(t, other.WriteFile("f", []byte("other"), 0o644))
	WantFile(t, v, "c", content)
	must.Do(t, other.Clone("c", "d"))
	must.Do(t, v.Remove("c"))
	WantFile(t, other, "d", content)
	must.Do(t, v.Remove("d"))
	must.Do(t, other.WriteFile("f", []byte(content), 0o644))
	WantClean(t, v)
}

// TestCloneOpen removes and changes files that are open while others share their content.
func TestCloneOpen(t *testing.T) {
	t.Parallel()
	v := Empty(t)
	content := strings.Repeat("0123456789", 20_000)
	must.Do(t, v.WriteFile("f", []byte(content), 0o644))
	must.Do(t, v.Clone("f", "c"))
	f, err := v.OpenFile("f", 2, 0)
	must.Do(t, err)
	must.Do(t, v.Remove("f"))
	must.Do(t, must.Second(f.WriteAt([]byte("written"), 70_000)))
	WantFile(t, v, "c", content)
	must.Do(t, v.Clone("c", "d"))
	must.Do(t, f.Close())
	WantFile(t, v, "d", content)
	c, err := v.Open("c")
	must.Do(t, err)
	must.Do(t, v.Remove("c"))
	p := make([]byte, 10)
	if _, err := c.ReadAt(p, 150_000); err != nil || string(p) != content[:10] {
		t.Errorf("%q, %v", p, err)
	}
	must.Do(t, c.Close())
	WantFile(t, v, "d", content)
	WantClean(t, v)
	must.Do(t, v.Remove("d"))
	must.Do(t, v.Compact(t.Context(), nil))
	wantNoClones(t, v)
}

// TestCloneBySQL changes bases and clones by SQL: the triggers leave the others as they are.
func TestCloneBySQL(t *testing.T) {
	t.Parallel()
	content := strings.Repeat("0123456789abcdef", 10_000) // three chunks
	for name, test := range map[string]struct{ sql, f, c string }{
		"update base":      {"UPDATE data SET bytes = CAST('x' || substr(bytes, 2) AS BLOB) WHERE id = #f << 28", "x" + content[1:], content},
		"delete chunk":     {"DELETE FROM data WHERE id = (#f << 28) + 1; UPDATE node SET holes = 65536 WHERE ino = #f", content[:65536] + strings.Repeat("\x00", 65536) + content[131072:], content},
		"replace chunk":    {"REPLACE INTO data VALUES ((#f << 28) + 1, zeroblob(65536))", content[:65536] + strings.Repeat("\x00", 65536) + content[131072:], content},
		"move chunks":      {"UPDATE data SET id = id + 1 WHERE id = (#f << 28) + 2; UPDATE node SET size = 196608 + 28928, holes = 65536 WHERE ino = #f", content[:131072] + strings.Repeat("\x00", 65536) + content[131072:], content},
		"insert own":       {"INSERT INTO data VALUES ((#c << 28) + 1, zeroblob(65536))", content, content[:65536] + strings.Repeat("\x00", 65536) + content[131072:]},
		"insert and drop":  {"INSERT INTO data VALUES ((#c << 28) + 1, zeroblob(65536)); DELETE FROM data WHERE id = (#c << 28) + 1; UPDATE node SET holes = 65536 WHERE ino = #c", content, content[:65536] + strings.Repeat("\x00", 65536) + content[131072:]},
		"remove base":      {"DELETE FROM entry WHERE name = 'f'; DELETE FROM node WHERE ino = #f; DELETE FROM data WHERE id >> 28 = #f", "", content},
		"remove base last": {"DELETE FROM entry WHERE name = 'f'; DELETE FROM data WHERE id >> 28 = #f; DELETE FROM node WHERE ino = #f", "", content},
		"view: base":       {"UPDATE file SET content = 'short' WHERE path = 'f'", "short", content},
		"view: clone":      {"UPDATE file SET content = 'short' WHERE path = 'c'", content, "short"},
		"view: mode":       {"UPDATE file SET mode = '0600' WHERE path IN ('f', 'c')", content, content},
		"view: remove":     {"DELETE FROM file WHERE path = 'f'", "", content},
		"view: remove it":  {"DELETE FROM file WHERE path = 'c'", content, ""},
		"remove clone":     {"DELETE FROM entry WHERE name = 'c'; DELETE FROM data WHERE id >> 28 = #c; DELETE FROM node WHERE ino = #c", content, ""},
	} {
		for _, snapshot := range []bool{true, false}[:InQuick(1, 2)] {
			t.Run(fmt.Sprint(name, " ", snapshot), func(t *testing.T) {
				t.Parallel()
				v := Empty(t)
				must.Do(t, v.WriteFile("f", []byte(content), 0o644))
				must.Do(t, v.Clone("f", "c"))
				must.Do(t, v.Clone("c", "d"))
				if snapshot {
					must.Do(t, v.CreateSnapshot(t.Context(), "s"))
				}
				info, err := v.Info(t.Context())
				must.Do(t, err)
				sqlite(t, info.Path, "BEGIN IMMEDIATE;"+inodesIn(t, v, test.sql)+";COMMIT")
				for name, want := range map[string]string{"f": test.f, "c": test.c, "d": content} {
					if want == "" {
						WantNone(t, v, name)
						continue
					}
					WantFile(t, v, name, want)
					if got := sqlite(t, info.Path, "SELECT hex(content) FROM file WHERE path = '"+name+"'"); got != hexOf(want) {
						t.Errorf("view file: %s is another one, %d digits", name, len(got))
					}
				}
				WantClean(t, v)
				if snapshot {
					at, err := v.OpenSnapshot(t.Context(), "s")
					must.Do(t, err)
					for _, name := range []string{"f", "c", "d"} {
						WantFile(t, at, name, content)
						if got := sqlite(t, info.Path, "SELECT hex(content) FROM file_at WHERE path = '"+name+"'"); got != hexOf(content) {
							t.Errorf("view file_at: %s is another one, %d digits", name, len(got))
						}
					}
					must.Do(t, v.RemoveSnapshot(t.Context(), "s"))
					WantClean(t, v)
				}
			})
		}
	}
}

func hexOf(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) }

// inodesIn puts the numbers of inodes in the place of their names, behind a #.
func inodesIn(t *testing.T, v *folio.Volume, sql string) string {
	t.Helper()
	for _, name := range []string{"f", "c", "d"} {
		info, err := v.Stat(name)
		must.Do(t, err)
		sql = strings.ReplaceAll(sql, "#"+name, fmt.Sprint(info.Sys().(*folio.Node).Ino))
	}
	return sql
}

// TestCloneShortenedBySQL shortens a clone by SQL, which is refused.
func TestCloneShortenedBySQL(t *testing.T) {
	t.Parallel()
	v := Empty(t)
	must.Do(t, v.WriteFile("f", make([]byte, 100_000), 0o644))
	must.Do(t, v.WriteFile("f", bytes.Repeat([]byte("x"), 100_000), 0o644))
	must.Do(t, v.Clone("f", "c"))
	info, err := v.Info(t.Context())
	must.Do(t, err)
	sqlite(t, info.Path, "UPDATE node SET size = size WHERE ino = (SELECT ino FROM entry WHERE name = 'c')")
	got := sqliteFails(t, info.Path, "UPDATE node SET size = 10 WHERE ino = (SELECT ino FROM entry WHERE name = 'c')")
	if !strings.Contains(got, "shorten it with folio") {
		t.Error(got)
	}
	WantClean(t, v)
}

// TestCloneUndone rolls the first clone of a volume back, and the last one.
func TestCloneUndone(t *testing.T) {
	t.Parallel()
	v := Empty(t)
	cloneTree(t, v)
	undo := errors.New("not to be")
	if err := v.Update(context.Background(), func(tx *folio.Tx) error {
		return cmp.Or(tx.Clone("d", "e"), undo)
	}); !errors.Is(err, undo) {
		t.Error(err)
	}
	wantNoClones(t, v)
	WantNone(t, v, "e")
	must.Do(t, v.WriteFile("d/large", bytes.Repeat([]byte("y"), 100_000), 0o644))
	must.Do(t, v.Clone("d", "e"))
	if err := v.Update(context.Background(), func(tx *folio.Tx) error {
		return cmp.Or(tx.RemoveAll("e"), cmp.Or(tx.WriteFile("d/large", nil, 0o644), undo))
	}); !errors.Is(err, undo) {
		t.Error(err)
	}
	WantFile(t, v, "e/large", strings.Repeat("y", 100_000))
	WantClean(t, v)
}
