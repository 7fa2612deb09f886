//go:build unix

package pgstore_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/pgstore"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
)

var makeRelease = flag.String("make-release", "", "add the volume of `VERSION`, which is about to be released, to testdata/releases")

// schemaOf returns the schema of a volume.
func schemaOf(address string) string {
	_, schema, _ := strings.Cut(pgstore.PlainAddress(address), "search_path=")
	return schema
}

// run runs statements of SQL.
func run(t *testing.T, address, statements string) {
	t.Helper()
	_, err := connect(t, address).PgConn().Exec(ctx, statements).ReadAll()
	must.Do(t, err)
}

// addWriter makes a role that may write to a volume.
func addWriter(t *testing.T, address, role string) {
	t.Helper()
	run(t, address, strings.NewReplacer("$volume", schemaOf(address), "$writer", role).Replace(`CREATE ROLE $writer LOGIN; GRANT USAGE ON SCHEMA $volume TO $writer;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA $volume TO $writer; GRANT USAGE ON ALL SEQUENCES IN SCHEMA $volume TO $writer`))
}

// TestReleases reads and writes volumes that released versions have made. Files of a release never
// change. A role that could write to a volume before its tables were migrated can do so later.
func TestReleases(t *testing.T) {
	t.Parallel()
	if *makeRelease != "" {
		makeVolume(t, filepath.Join("testdata", "releases", *makeRelease))
	}
	list, err := filepath.Glob("testdata/releases/*.sql")
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	for _, path := range list {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			dump, err := os.ReadFile(path)
			must.Do(t, err)
			want, err := os.ReadFile(strings.TrimSuffix(path, ".sql") + ".txt")
			must.Do(t, err)
			address := pgserver.Volume(t)
			schema := schemaOf(address)
			run(t, address, strings.ReplaceAll(string(dump), "VOLUME", schema))
			role := "keeper_" + schema
			addWriter(t, address, role)

			if got := describe(t, volume(t, address)); got != string(want) {
				t.Errorf("%s\nwant\n%s", got, want)
			}
			v := volume(t, strings.Replace(address, "postgres://folio@", "postgres://"+role+"@", 1))
			must.Do(t, errors.Join(v.WriteFile("chunks", []byte("new"), 0o644), v.Rename("dir", "moved"), v.RemoveAll("moved")))
			if got, err := v.ReadFile("hard"); err != nil || string(got) != "small\n" {
				t.Errorf("%q, %v", got, err)
			}
			r, err := open(t, address, nil).Check(ctx, nil)
			if err != nil || !r.OK() {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

// describe tells all that a program reads from a volume.
func describe(t *testing.T, v *folio.Volume) string {
	t.Helper()
	var b strings.Builder
	must.Do(t, fs.WalkDir(v.FS(), ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := v.Lstat(name)
		must.Do(t, err)
		n := info.Sys().(*folio.Node)
		fmt.Fprintf(&b, "%q %v %d %d:%d %d nlink %d rdev %d", name, info.Mode(), n.Size, n.UID, n.GID, n.Mtime, n.Nlink, n.Rdev)
		switch info.Mode().Type() {
		case 0:
			content, err := v.ReadFile(name)
			must.Do(t, err)
			fmt.Fprintf(&b, " %x", sha256.Sum256(content))
		case fs.ModeSymlink:
			target, err := v.Readlink(name)
			must.Do(t, err)
			fmt.Fprintf(&b, " -> %s", target)
		}
		attrs, err := v.Xattrs(name)
		must.Do(t, err)
		for _, attr := range slices.Sorted(maps.Keys(attrs)) {
			fmt.Fprintf(&b, " %s=%q", attr, attrs[attr])
		}
		fmt.Fprintln(&b)
		return nil
	}))
	return b.String()
}

// settings are statements of a dump that not all versions of the server know.
var settings = regexp.MustCompile(`(?m)^(SET |SELECT pg_catalog.set_config|\\|--|$).*\n`)

// makeVolume makes a volume that has of everything one, and dumps it. It keeps the ones that are
// there.
func makeVolume(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Lstat(path + ".sql"); err == nil {
		t.Fatalf("%s is there, and never changes", path)
	}
	address := pgserver.Volume(t)
	v := volume(t, address)
	must.Do(t, v.MkdirAll("dir/deep", 0o750))
	for name, content := range map[string]string{
		"dir/small.txt": "small\n", "dir/deep/gone": "gone\n", "empty": "", "Äpfel und Öl": "ü", "chunks": strings.Repeat("0123456789", 7000),
	} {
		must.Do(t, v.WriteFile(name, []byte(content), 0o640))
	}
	f, err := v.OpenFile("sparse", os.O_CREATE|os.O_RDWR, 0o600)
	must.Do(t, err)
	_, err = f.WriteAt([]byte("far"), 1<<21)
	must.Do(t, errors.Join(
		err, f.Close(), v.Link("dir/small.txt", "hard"), v.Symlink("dir/small.txt", "link"), v.Mknod("fifo", fs.ModeNamedPipe|0o644, 0),
		v.SetXattr("dir/small.txt", "user.note", []byte("\x00\xff")), v.Chmod("chunks", fs.ModeSetuid|0o755), v.Lchown("chunks", 1000, 2000),
		v.CloneFile("chunks", "clone"), v.Remove("dir/deep/gone"), v.Rename("dir/deep", "dir/moved"),
	))
	must.Do(t, os.WriteFile(path+".txt", []byte(describe(t, v)), 0o644))
	must.Do(t, v.Close())
	schema := schemaOf(address)
	dump, err := exec.Command("pg_dump", "--inserts", "-O", "-n", schema, "-h", pgserver.Shared(t).Socket(), "-U", "folio", "postgres").Output()
	must.Do(t, err)
	text := settings.ReplaceAllString(strings.ReplaceAll(string(dump), schema, "VOLUME"), "")
	must.Do(t, os.WriteFile(path+".sql", []byte(text), 0o644))
}

// TestMakeTables makes a volume by many programs at once.
func TestMakeTables(t *testing.T) {
	t.Parallel()
	openTogether(t, pgserver.Volume(t))
}

// openTogether opens a volume by many programs at once, and checks it.
func openTogether(t *testing.T, address string) {
	t.Helper()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := pgstore.Open(ctx, address, &pgstore.Options{Create: true})
			if err != nil {
				t.Error(err)
				return
			}
			if r, err := s.Check(ctx, nil); err != nil || !r.OK() || r.Nodes != 1 {
				t.Errorf("%+v, %v", r, err)
			}
			_ = s.Close()
		})
	}
	wg.Wait()
}

// TestMigration has a version of the tables after the latest. A program that may only read, or is
// no owner of the tables, leaves them as they are. The others change them once. Programs that do
// not know the new version refuse it.
func TestMigration(t *testing.T) {
	address := pgserver.Volume(t)
	openTogether(t, address)
	refused := func(step, address string, o *pgstore.Options, is error, want string) {
		t.Helper()
		s, err := pgstore.Open(ctx, address, o)
		if err == nil {
			_ = s.Close()
		}
		if err == nil || is != nil && !errors.Is(err, is) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %v with %q", step, err, is, want)
		}
	}
	role := "stranger_" + schemaOf(address)
	addWriter(t, address, role)
	t.Run("next", func(t *testing.T) {
		latest := pgstore.AddMigration(t, "ALTER TABLE @node ADD COLUMN later integer")
		refused("reader", address, &pgstore.Options{ReadOnly: true}, nil, "open it for writing once")
		refused("stranger", strings.Replace(address, "postgres://folio@", "postgres://"+role+"@", 1), nil, fs.ErrPermission, "let the role that owns them open the volume once")
		openTogether(t, address)
		var now int
		must.Do(t, connect(t, address).QueryRow(context.Background(), "SELECT version FROM volume").Scan(&now))
		if now != latest {
			t.Errorf("version %d, want %d", now, latest)
		}
	})
	refused("older program", address, nil, store.ErrNewerVersion, "update")
}
