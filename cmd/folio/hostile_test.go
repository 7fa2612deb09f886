package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

// A hostileEntry is a row of table entry as no Folio writes it.
type hostileEntry struct {
	parent int
	name   string
	ino    int
	typ    store.Type
}

// makeHostile makes a volume by hand: the inodes 1 and 2 are directories, 3 is a file, 4 a symbolic
// link to target.
func makeHostile(t *testing.T, target string, entries ...hostileEntry) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "hostile.folio")
	o := &sqlitefile.BuildOptions{ApplicationID: store.ApplicationID, UserVersion: store.SchemaVersion}
	err := sqlitefile.Build(context.Background(), name, o, func(b *sqlitefile.Builder) error {
		for _, sql := range store.Schema {
			if err := b.Create(sql); err != nil {
				return err
			}
		}
		return errors.Join(hostileNodes(b, target), hostileEntries(b, entries), hostileData(b, target))
	})
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func hostileNodes(b *sqlitefile.Builder, target string) error {
	nodes, err := b.Table("node")
	for i, n := range []struct{ mode, size int }{
		{store.ModeDir | 0o755, 0}, {store.ModeDir | 0o755, 0}, {store.ModeRegular | 0o644, 4}, {store.ModeSymlink | 0o777, len(target)},
	} {
		err = errors.Join(err, nodes.Append(int64(i+1), nil, n.mode, 1, 0, 0, n.size, 0, 0, 0, 0, 0))
	}
	return err
}

func hostileEntries(b *sqlitefile.Builder, entries []hostileEntry) error {
	table, err := b.Table("entry")
	for _, e := range entries {
		err = errors.Join(err, table.AppendKey(e.parent, e.name, e.ino, int(e.typ)))
	}
	return err
}

func hostileData(b *sqlitefile.Builder, target string) error {
	data, err := b.Table("data")
	return errors.Join(err, data.Append(store.DataID(3, 0), nil, []byte("evil")), data.Append(store.DataID(4, 0), nil, []byte(target)))
}

// Whatever names and links a volume holds: every command ends, export writes nothing outside, and
// takes back what it wrote.
func TestHostileVolumes(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	tests := map[string][]hostileEntry{
		"up":           {{1, "..", 3, store.File}},
		"self":         {{1, ".", 3, store.File}},
		"slash":        {{1, "a/../../b", 3, store.File}},
		"absolute":     {{1, outside + "/x", 3, store.File}},
		"empty":        {{1, "", 3, store.File}},
		"NUL":          {{1, "a\x00b", 3, store.File}},
		"up directory": {{1, "..", 2, store.Dir}, {2, "f", 3, store.File}},
		"cycle":        {{1, "d", 2, store.Dir}, {2, "again", 2, store.Dir}},
		"root below":   {{1, "d", 2, store.Dir}, {2, "root", 1, store.Dir}},
		"no inode":     {{1, "f", 99, store.File}},
		"wrong type":   {{1, "d", 3, store.Dir}},
		"link as dir":  {{1, "d", 4, store.Dir}},
	}
	for name, entries := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			volume := makeHostile(t, outside, entries...)
			work := t.TempDir()
			code, _, stderr := runFolio(t, "export", volume, filepath.Join(work, "out"))
			if code != exitFailure || strings.Count(stderr, "\n") != 1 {
				t.Errorf("export: exit code %d, %q", code, stderr)
			}
			wantNames(t, work)
			wantNames(t, outside)
			if code, stdout, stderr := runFolio(t, "check", volume); code != exitFailure || stdout+stderr == "" {
				t.Errorf("check: exit code %d, %q, %q", code, stdout, stderr)
			}
			for _, args := range [][]string{
				{"ls", "-lR"},
				{"ls", "-R", "--json"},
				{"tree"},
				{"du", "-a"},
				{"info"},
				{"stat"},
				{"find", "-s", "+0"},
				{"grep", "evil"},
				{"sync", work},
				{"sync", "--delete", work},
			} {
				if code, _, stderr := runFolio(t, append(args, volume)...); code == exitFailure && strings.Count(stderr, "\n") != 1 {
					t.Errorf("%q: %q", args, stderr)
				}
			}
			if code, _, stderr := runFolio(t, "diff", "-p", work, volume); code == exitTrouble && !strings.HasPrefix(stderr, "folio: warning: ") {
				t.Errorf("diff: exit code %d, %q", code, stderr)
			}
		})
	}
}

// A symbolic link that leads out comes back as it is, and nothing is written through it.
func TestHostileLinkComesBack(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	volume := makeHostile(t, outside, hostileEntry{1, "l", 4, store.Symlink})
	out := filepath.Join(t.TempDir(), "out")
	mustRun(t, "export", volume, out)
	if target, err := os.Readlink(filepath.Join(out, "l")); target != outside || err != nil {
		t.Errorf("%q, %v", target, err)
	}
	wantNames(t, outside)
}
