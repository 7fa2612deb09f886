package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/sqlitefile"
)

// An agentDB has the rows of an AgentFS database, each in the order of the columns.
type agentDB struct {
	config, inodes, names, data, symlinks [][]any
	more                                  map[string][][]any // rows of tables of which agentMore has the statements
	inodeColumns                          string             // "" means those of version 0.4
}

const agentInodeSchema = `ino INTEGER PRIMARY KEY AUTOINCREMENT, mode INTEGER NOT NULL, nlink INTEGER NOT NULL DEFAULT 0,
uid INTEGER, gid INTEGER, size INTEGER, atime INTEGER, mtime INTEGER, ctime INTEGER, rdev INTEGER, atime_nsec INTEGER, mtime_nsec INTEGER, ctime_nsec INTEGER`

var agentMore = map[string]string{
	"fs_overlay_config": "(key TEXT PRIMARY KEY, value TEXT NOT NULL)",
	"fs_whiteout":       "(path TEXT PRIMARY KEY, created_at INTEGER NOT NULL)",
	"kv_store":          "(key TEXT PRIMARY KEY, value TEXT NOT NULL)",
}

func (a *agentDB) inode(ino, mode, size int64) {
	a.inodes = append(a.inodes, []any{ino, mode, 1, 7, 8, size, 1, 2, 3, 0x103, 4, 5, 6})
}

func (a *agentDB) name(parent int64, name string, ino int64) {
	a.names = append(a.names, []any{int64(len(a.names) + 1), name, parent, ino})
}

func (a *agentDB) chunk(ino, i int64, data string) {
	a.data = append(a.data, []any{ino, i, []byte(data)})
}

// file adds a file in the root, with its content in chunks of 10 bytes.
func (a *agentDB) file(ino int64, name, content string) {
	a.inode(ino, 0o100644, int64(len(content)))
	a.name(1, name, ino)
	for i := 0; i < len(content); i += 10 {
		a.chunk(ino, int64(i/10), content[i:min(i+10, len(content))])
	}
}

// newAgent returns a database with an empty root.
func newAgent() *agentDB {
	a := &agentDB{config: [][]any{{"chunk_size", "10"}, {"schema_version", "0.4"}}, more: make(map[string][][]any)}
	a.inode(1, 0o40755, 0)
	return a
}

func (a *agentDB) write(t testing.TB) string {
	t.Helper()
	columns := a.inodeColumns
	if columns == "" {
		columns = agentInodeSchema
	}
	tables := []struct {
		name, columns string
		rows          [][]any
	}{
		{"fs_config", "(key TEXT PRIMARY KEY, value TEXT)", a.config},
		{"fs_inode", "(" + columns + ")", a.inodes},
		{"fs_dentry", "(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, parent_ino INTEGER, ino INTEGER, UNIQUE(parent_ino, name))", a.names},
		{"fs_data", "(ino INTEGER, chunk_index INTEGER, data BLOB, PRIMARY KEY (ino, chunk_index))", a.data},
		{"fs_symlink", "(ino INTEGER PRIMARY KEY, target TEXT)", a.symlinks},
	}
	for name, rows := range a.more {
		tables = append(tables, struct {
			name, columns string
			rows          [][]any
		}{name, agentMore[name], rows})
	}
	path := filepath.Join(t.TempDir(), "agent.db")
	err := sqlitefile.Build(context.Background(), path, &sqlitefile.BuildOptions{PageSize: 512}, func(b *sqlitefile.Builder) error {
		for _, table := range tables {
			if err := b.Create("CREATE TABLE " + table.name + table.columns); err != nil {
				return err
			}
			rows, err := b.Table(table.name)
			if err != nil {
				return err
			}
			for i, row := range table.rows {
				rowid := int64(i + 1)
				if strings.Contains(table.columns, "INTEGER PRIMARY KEY") {
					rowid = row[0].(int64)
				}
				if err := rows.Append(rowid, row...); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func (a *agentDB) collect(t testing.TB, o *Options) ([]string, error) {
	t.Helper()
	src, err := Open(a.write(t), nil, o)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	return collect(src)
}

func TestAgentKinds(t *testing.T) {
	t.Parallel()
	a := newAgent()
	a.file(2, "b", "a content of several chunks")
	a.name(1, "a", 2) // comes first
	a.inode(3, 0o40700, 0)
	a.name(1, "d", 3)
	a.inode(4, 0o120777, 3)
	a.name(3, "l", 4)
	a.symlinks = append(a.symlinks, []any{int64(4), "../out"})
	a.inode(5, 0o020666, 0)
	a.name(3, "null", 5)
	a.inode(6, 0o010600, 0)
	a.name(3, "pipe", 6)
	a.inode(7, 0o100600, 0)
	a.name(3, "was cut", 7)
	a.chunk(7, 0, "left")
	a.inode(8, 0o100600, 25)
	a.name(3, "hole", 8)
	a.chunk(8, 1, "half")
	a.inode(9, 0o100600, 3*smallSize)
	a.name(3, "large", 9)
	a.chunk(9, 20_000, "island")
	a.inode(10, 0o100600, 2*smallSize)
	a.name(3, "full", 10)
	for i := range int64(2*smallSize/10 + 1) {
		a.chunk(10, i, strings.Repeat("y", int(min(10, 2*smallSize-10*i))))
	}
	lines, err := a.collect(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantLines(t, lines, []string{
		". drwxr-xr-x",
		`a -rw-r--r-- "a content of several chunks"`,
		"b == a",
		"d drwx------",
		"d/full -rw------- 2097152x\"y\"",
		`d/hole -rw------- "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00half\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"`,
		"d/l Lrwxrwxrwx -> ../out",
		"d/large -rw------- 3145728 bytes",
		"d/null Dcrw-rw-rw- 0x103",
		"d/pipe prw-------",
		`d/was cut -rw------- ""`,
	})
}

// A large content has its chunks where they belong, and holes between them.
func TestAgentLarge(t *testing.T) {
	t.Parallel()
	a := newAgent()
	a.inode(2, 0o100600, 3*smallSize)
	a.name(1, "f", 2)
	want := make([]byte, 3*smallSize)
	for _, i := range []int64{1, 2, 3, 20_000, 20_002, 3*smallSize/10 - 1} {
		data := fmt.Sprint(i, " ")
		a.chunk(2, i, data)
		copy(want[10*i:], data)
	}
	src, err := Open(a.write(t), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	err = src.Walk(t.Context(), func(e *Entry) error {
		if e.Name != "f" {
			return nil
		}
		got, err := io.ReadAll(e.Content)
		if !bytes.Equal(got, want) {
			t.Error("another content")
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// The nanoseconds of times came with version 0.4, and a hole costs nothing.
func TestAgentAttributes(t *testing.T) {
	t.Parallel()
	old := newAgent()
	old.config = nil
	old.inodeColumns = `ino INTEGER PRIMARY KEY, mode INTEGER, uid INTEGER, gid INTEGER, size INTEGER, atime INTEGER, mtime INTEGER, ctime INTEGER`
	old.inodes = [][]any{{int64(1), 0o40755, 7, 8, 0, 1, 2, 3}, {int64(2), 0o100600, 7, 8, int64(maxArchivable - 1), -1, 2, 3}}
	old.name(1, "f", 2)
	for name, a := range map[string]*agentDB{"0.4": newAgent(), "0.1": old} {
		src, err := Open(a.write(t), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = src.Walk(t.Context(), func(e *Entry) error {
			if e.UID != 7 || e.GID != 8 {
				t.Errorf("%s: %s: owner %d, %d", name, e.Name, e.UID, e.GID)
			}
			if want := time.Unix(2, int64(5*b2i(name == "0.4"))); !e.ModTime.Equal(want) {
				t.Errorf("%s: %s: %v", name, e.Name, e.ModTime)
			}
			if e.Name == "f" && e.Size != maxArchivable-1 {
				t.Errorf("%d bytes", e.Size)
			}
			if e.Content != nil {
				if n, err := e.Content.(folio.SparseReader).SkipHole(1); n != e.Size || err != nil {
					t.Errorf("a hole of %d bytes, %v", n, err)
				}
			}
			return nil
		})
		if err := errors.Join(err, src.Close()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAgentHostile(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(a *agentDB)
		want   error
	}{
		{"up", func(a *agentDB) { a.file(2, "..", "x") }, ErrName},
		{"dot", func(a *agentDB) { a.file(2, ".", "x") }, ErrName},
		{"empty", func(a *agentDB) { a.file(2, "", "x") }, ErrName},
		{"slash", func(a *agentDB) { a.file(2, "../etc/passwd", "x") }, ErrName},
		{"absolute", func(a *agentDB) { a.file(2, "/etc/passwd", "x") }, ErrName},
		{"NUL", func(a *agentDB) { a.file(2, "a\x00b", "x") }, ErrName},
		{"no inode", func(a *agentDB) { a.name(1, "f", 2) }, ErrNoInode},
		{"no root", func(a *agentDB) { a.inodes = nil }, ErrNoInode},
		{"root is a file", func(a *agentDB) { a.inodes[0][1] = 0o100644 }, ErrDamaged},
		{"unknown type", func(a *agentDB) { a.file(2, "f", ""); a.inodes[1][1] = 0o070644 }, ErrType},
		{"mode beyond 16 bits", func(a *agentDB) { a.file(2, "f", ""); a.inodes[1][1] = int64(1<<40 | 0o100644) }, ErrType},
		{"owner", func(a *agentDB) { a.file(2, "f", ""); a.inodes[1][3] = -1 }, ErrOwner},
		{"group", func(a *agentDB) { a.file(2, "f", ""); a.inodes[1][4] = int64(1 << 32) }, ErrOwner},
		{"negative size", func(a *agentDB) { a.file(2, "f", ""); a.inodes[1][5] = -1 }, folio.ErrTooLarge},
		{"huge size", func(a *agentDB) { a.file(2, "f", ""); a.inodes[1][5] = int64(math.MaxInt64) }, folio.ErrTooLarge},
		{"size is a text", func(a *agentDB) { a.file(2, "f", ""); a.inodes[1][5] = "x" }, sqlitefile.ErrType},
		{"nanoseconds", func(a *agentDB) { a.file(2, "f", ""); a.inodes[1][11] = 1_000_000_000 }, ErrDamaged},
		{"more than its size", func(a *agentDB) { a.file(2, "f", "content"); a.inodes[1][5] = 3 }, ErrChunk},
		{"a chunk behind its end", func(a *agentDB) { a.file(2, "f", "content"); a.chunk(2, 7, "x") }, ErrChunk},
		{"a chunk before its beginning", func(a *agentDB) { a.file(2, "f", "content"); a.chunk(2, -1, "x") }, ErrChunk},
		{"a chunk beyond all numbers", func(a *agentDB) { a.file(2, "f", "content"); a.chunk(2, math.MaxInt64, "x") }, ErrChunk},
		{"a large chunk", func(a *agentDB) { a.inode(2, 0o100644, 100); a.name(1, "f", 2); a.chunk(2, 0, "eleven byte") }, ErrChunk},
		{"no target", func(a *agentDB) { a.inode(2, 0o120777, 3); a.name(1, "l", 2) }, ErrDamaged},
		{"a directory in itself", func(a *agentDB) { a.inode(2, 0o40755, 0); a.name(1, "d", 2); a.name(2, "d", 2) }, ErrTwoNames},
		{"the root again", func(a *agentDB) { a.name(1, "d", 1) }, ErrTwoNames},
		{"a cycle apart", func(a *agentDB) { a.inode(2, 0o40755, 0); a.name(2, "d", 2) }, ErrDamaged},
		{"a name in a file", func(a *agentDB) { a.file(2, "f", ""); a.name(2, "g", 2) }, ErrDamaged},
		{"chunks of no bytes", func(a *agentDB) { a.config[0][1] = "0" }, ErrDamaged},
		{"chunks of text", func(a *agentDB) { a.config[0][1] = "4096 " }, ErrDamaged},
		{"no table of names", func(a *agentDB) { a.inodeColumns = "ino INTEGER PRIMARY KEY"; a.inodes = nil }, ErrDatabase},
	} {
		a := newAgent()
		tt.change(a)
		if lines, err := a.collect(t, nil); !errors.Is(err, tt.want) {
			t.Errorf("%s: %q, %v, want %v", tt.name, lines, err, tt.want)
		}
	}
}

func TestAgentVersion(t *testing.T) {
	t.Parallel()
	a := newAgent()
	a.config[1][1] = "0.5"
	_, err := a.collect(t, nil)
	if e, ok := errors.AsType[*VersionError](err); !ok || e.Version != "0.5" {
		t.Error(err)
	}
}

// Tables without files are told about, if they have rows.
func TestAgentOthers(t *testing.T) {
	t.Parallel()
	a, warned := newAgent(), ""
	a.more["kv_store"] = [][]any{{"k", "1"}}
	if _, err := a.collect(t, &Options{Warn: func(name, what string) { warned += name + ": " + what }}); err != nil {
		t.Fatal(err)
	}
	if warned != "kv_store: keys and values of AgentFS" {
		t.Error(warned)
	}
}

// An overlay shows what the database has, and what of the base it has not removed.
func TestAgentOverlay(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	for _, name := range []string{"same", "changed", "removed", "d/same", "d/changed", "gone/a/b", "file/in", "half/kept", "half/removed"} {
		path := filepath.Join(base, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("base"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(base, "removed"), filepath.Join(base, "same too")); err != nil {
		t.Fatal(err)
	}
	a := newAgent()
	a.file(2, "changed", "new")
	a.file(3, "file", "was a directory")
	a.inode(4, 0o40755, 0)
	a.name(1, "d", 4)
	a.inode(5, 0o100644, 0)
	a.name(4, "changed", 5)
	a.inode(6, 0o40711, 0)
	a.name(1, "same.d", 6)
	a.more["fs_overlay_config"] = [][]any{{"base_path", "/somewhere"}}
	a.more["fs_whiteout"] = [][]any{{"/removed", 1}, {"/gone", 1}, {"/half/removed", 1}}
	_, err := a.collect(t, nil)
	if e, ok := errors.AsType[*OverlayError](err); !ok || e.Base != "/somewhere" {
		t.Error(err)
	}
	upper := []string{
		". drwxr-xr-x",
		`changed -rw-r--r-- "new"`,
		"d drwxr-xr-x", `d/changed -rw-r--r-- ""`,
		`file -rw-r--r-- "was a directory"`,
		"same.d drwx--x--x",
	}
	lines, err := a.collect(t, &Options{ChangesOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	wantLines(t, lines, upper)
	lines, err = a.collect(t, &Options{Base: base})
	if err != nil {
		t.Fatal(err)
	}
	wantLines(t, lines, append(
		upper, `d/same -rw------- "base"`, "half drwx------", `half/kept -rw------- "base"`,
		`same -rw------- "base"`, `same too -rw------- "base"`,
	))
	if _, err := a.collect(t, &Options{Base: base, MaxSize: 30}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("30 bytes at most: %v", err)
	}
	if _, err := newAgent().collect(t, &Options{Base: base}); !errors.Is(err, ErrNoLayer) {
		t.Error(err)
	}
	a.more["fs_whiteout"] = [][]any{{"/../x", 1}}
	if _, err := a.collect(t, &Options{Base: base}); !errors.Is(err, ErrName) {
		t.Error(err)
	}
}

// FuzzAgent changes bytes of a database: it is refused, or read to its end.
func FuzzAgent(f *testing.F) {
	a := newAgent()
	a.file(2, "a", "a content of several chunks")
	a.inode(3, 0o40700, 0)
	a.name(1, "d", 3)
	a.name(3, "b", 2)
	data, err := os.ReadFile(a.write(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "fuzzed")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		src, err := Open(path, nil, &Options{MaxSize: 1 << 24})
		if err != nil {
			return
		}
		defer src.Close()
		_ = src.Walk(t.Context(), func(e *Entry) error {
			if e.Content != nil {
				if n, err := io.Copy(io.Discard, e.Content); err == nil && n != e.Size {
					return fmt.Errorf("%d bytes of %d", n, e.Size)
				}
			}
			return nil
		})
	})
}
