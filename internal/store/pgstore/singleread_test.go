//go:build unix

package pgstore_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/race"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/pgstore"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
)

// uncached opens a volume whose calls all ask the server.
func uncached(t testing.TB, s *pgstore.Store) *folio.Volume {
	t.Helper()
	v, err := folio.OpenStore(private.Key{}, s, &folio.Options{CacheSize: -1})
	must.Do(t, err)
	return v
}

// TestSingleReads reads paths and small contents by one statement each, without a transaction.
func TestSingleReads(t *testing.T) {
	t.Parallel()
	s := open(t, pgserver.Volume(t), nil)
	v := uncached(t, s)
	must.Do(t, errors.Join(v.MkdirAll("a/b/c", 0o755), v.WriteFile("a/b/c/file", []byte("content"), 0o644), v.WriteFile("top", []byte("at the top"), 0o644)))
	_, err := v.Stat("a/b/c/file")
	must.Do(t, err)
	pgstore.BreakWalks(s)
	for _, name := range []string{"a/b/c/file", "a/b/c", "a/b", "a", "top"} {
		if _, err := v.Stat(name); err != nil {
			t.Errorf("Stat: %v", err)
		}
		if _, err := v.Lstat(name); err != nil {
			t.Errorf("Lstat: %v", err)
		}
	}
	for name, want := range map[string]string{"a/b/c/file": "content", "top": "at the top"} {
		if got, err := v.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
	for _, name := range []string{"none", "a/b/none", "a/b/c/none"} {
		if _, err := v.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := v.ReadFile("a/b"); !errors.Is(err, folio.ErrIsDirectory) {
		t.Errorf("a directory: %v", err)
	}
}

// TestAllocationsOfStat limits what a Stat of one trip allocates for a path of four names: pgx's 7,
// and the tree of the path and its rows.
func TestAllocationsOfStat(t *testing.T) {
	race.Skip(t, "the detector lets pools drop values")
	v := volume(t, pgserver.Volume(t))
	must.Do(t, v.MkdirAll("a/b/c/d", 0o755))
	stat := func() {
		_, err := v.Stat("a/b/c/d")
		must.Do(t, err)
	}
	stat()
	if n := testing.AllocsPerRun(500, stat); n > 72 {
		t.Errorf("a Stat allocates %v times, want at most 72", n)
	}
}

// TestMovedDirectories moves directories behind the back of a Store that remembers them.
func TestMovedDirectories(t *testing.T) {
	t.Parallel()
	address := pgserver.Volume(t)
	v, other, sql, beside := uncached(t, open(t, address, nil)), volume(t, address), connect(t, address), connect(t, address)
	for i, c := range []struct {
		name   string
		behind func(d string) error
		want   string // the content of the file afterwards; "" for none
	}{
		{"nothing", func(string) error { return nil }, "old"},
		{"the directory was moved", func(d string) error { return other.Rename(d+"/dir", d+"/away") }, ""},
		{"one above it was", func(d string) error { return other.Rename(d, d+"-away") }, ""},
		{"it was moved and came back", func(d string) error {
			return errors.Join(other.Rename(d+"/dir", d+"/away"), other.Rename(d+"/away", d+"/dir"))
		}, "old"},
		{"it was replaced", func(d string) error {
			return errors.Join(other.Rename(d+"/dir", d+"/away"), other.Mkdir(d+"/dir", 0o755), other.WriteFile(d+"/dir/file", []byte("new"), 0o644))
		}, "new"},
		{"another one came in its place", func(d string) error {
			return errors.Join(other.Mkdir(d+"/new", 0o755), other.WriteFile(d+"/new/file", []byte("new"), 0o644), other.RemoveAll(d+"/dir"), other.Rename(d+"/new", d+"/dir"))
		}, "new"},
		{"it was removed", func(d string) error { return other.RemoveAll(d + "/dir") }, ""},
		{"all was removed", func(d string) error { return other.RemoveAll(d) }, ""},
		{"it became a file", func(d string) error {
			return errors.Join(other.RemoveAll(d+"/dir"), other.WriteFile(d+"/dir", nil, 0o644))
		}, ""},
		{"it became a link", func(d string) error {
			return errors.Join(other.Rename(d+"/dir", d+"/away"), other.Symlink("away", d+"/dir"), other.WriteFile(d+"/away/file", []byte("new"), 0o644))
		}, "new"},
		{"two changed places", func(d string) error {
			return errors.Join(other.Mkdir(d+"/second", 0o755), other.WriteFile(d+"/second/file", []byte("new"), 0o644), other.Update(ctx, func(tx *folio.Tx) error {
				return errors.Join(tx.Rename(d+"/dir", d+"/third"), tx.Rename(d+"/second", d+"/dir"), tx.Rename(d+"/third", d+"/second"))
			}))
		}, "new"},
		{"the file was replaced", func(d string) error { return other.WriteFile(d+"/dir/file", []byte("new"), 0o644) }, "new"},
		{"the file became a link", func(d string) error {
			return errors.Join(other.Remove(d+"/dir/file"), other.WriteFile(d+"/target", []byte("new"), 0o644), other.Symlink("../target", d+"/dir/file"))
		}, "new"},
		{"SQL renamed it", func(d string) error {
			_, err := sql.Exec(ctx, "UPDATE entry SET name = 'away' WHERE name = 'dir' AND parent = (SELECT ino FROM entry WHERE parent = 1 AND name = $1)", []byte(d))
			return err
		}, ""},
		{"SQL emptied and filled the table", func(d string) error {
			return inSQL(sql, "CREATE TEMP TABLE kept ON COMMIT DROP AS SELECT * FROM entry", "TRUNCATE entry",
				"INSERT INTO entry SELECT parent, CASE WHEN name = 'dir' AND parent = "+strings.Replace(inoOf(d), "entry", "kept", 1)+" THEN 'away' ELSE name END, ino, type FROM kept")
		}, ""},
		{"a transaction that had begun before other moves", func(d string) error {
			return pgx.BeginTxFunc(ctx, sql, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
				_, err := tx.Exec(ctx, "SELECT FROM entry")
				err = errors.Join(err, other.MkdirAll("moved/a", 0o755), other.Rename("moved/a", "moved/b"), other.Rename("moved/b", "moved/c"), other.RemoveAll("moved"))
				_, beat := beside.Exec(ctx, "DELETE FROM version AS v WHERE number < (SELECT number FROM version WHERE lane = v.lane ORDER BY number DESC LIMIT 1)")
				_, look := v.Stat(d + "/dir/file")
				_, move := tx.Exec(ctx, "UPDATE entry SET name = 'away' WHERE name = 'dir' AND parent = "+inoOf(d))
				return errors.Join(err, beat, look, move)
			})
		}, ""},
		{"a server answered that is behind", func(d string) error {
			return inSQL(sql, "SET LOCAL session_replication_role = replica",
				"UPDATE entry SET name = 'away' WHERE name = 'dir' AND parent = "+inoOf(d))
		}, ""},
	} {
		d := fmt.Sprint(i)
		must.Do(t, errors.Join(v.MkdirAll(d+"/dir", 0o755), v.WriteFile(d+"/dir/file", []byte("old"), 0o644)))
		_, err := v.Stat(d + "/dir/file")
		must.Do(t, err)
		must.Do(t, c.behind(d))
		for _, read := range []func(name string) ([]byte, error){v.ReadFile, func(name string) ([]byte, error) {
			_, err := v.Stat(name)
			return []byte(c.want), err
		}} {
			if got, err := read(d + "/dir/file"); c.want == "" && err == nil || c.want != "" && (err != nil || string(got) != c.want) {
				t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
			}
		}
	}
	checkWell(t, other)
}

// inoOf is the number of a directory at the top.
func inoOf(dir string) string {
	return "(SELECT ino FROM entry WHERE parent = 1 AND name = '" + dir + "')"
}

// inSQL runs statements in one transaction.
func inSQL(c *pgx.Conn, statements ...string) error {
	return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		for _, s := range statements {
			if _, err := tx.Exec(ctx, s); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestMadeAgain removes a volume and makes another one of that name, below a Store that remembers
// directories of the first.
func TestMadeAgain(t *testing.T) {
	t.Parallel()
	address := pgserver.Volume(t)
	v, sql := uncached(t, open(t, address, nil)), connect(t, address)
	must.Do(t, errors.Join(v.MkdirAll("d/x", 0o755), v.WriteFile("d/x/file", []byte("first"), 0o644)))
	for range 3 {
		_, err := v.Stat("d/x/file")
		must.Do(t, err)
	}
	_, err := sql.Exec(ctx, "DROP SCHEMA "+sql.Config().RuntimeParams["search_path"]+" CASCADE")
	must.Do(t, err)
	second := volume(t, address)
	must.Do(t, errors.Join(second.Mkdir("other", 0o755), second.Mkdir("secret", 0o755), second.WriteFile("secret/file", []byte("second"), 0o644)))
	if got, err := v.ReadFile("d/x/file"); err == nil {
		t.Errorf("a file of the volume that is gone: %q", got)
	}
}

// TestVersions takes changes back that Stores have seen, as a server does that has lost them in a
// crash, or was restored. No version comes again: caches would take an old state for the new one.
func TestVersions(t *testing.T) {
	t.Parallel()
	address := pgserver.Volume(t)
	s, sql := open(t, address, nil), connect(t, address)
	seen := make(map[uint64]bool)
	for i := range 20 {
		fn := func(tx store.Tx) error {
			return tx.Link(store.Root, store.Entry{Name: strconv.Itoa(i), Ino: 1, Type: store.File})
		}
		if i%2 == 0 {
			must.Do(t, s.Update(ctx, fn))
		} else {
			must.Do(t, s.Batch(fn))
		}
		r, err := s.Begin(ctx)
		must.Do(t, err)
		if seen[r.Version()] {
			t.Errorf("change %d made version %d again", i, r.Version())
		}
		seen[r.Version()] = true
		r.End()
		_, err = sql.Exec(ctx, "DELETE FROM version WHERE lane > 0 AND number > 1")
		must.Do(t, err)
	}
}

// TestLargeFileInSingleRead changes a file that is too large for its row to be believed, after a
// reader has begun with its path. The reader sees it as it was.
func TestLargeFileInSingleRead(t *testing.T) {
	t.Parallel()
	address := pgserver.Volume(t)
	s, other := open(t, address, nil), volume(t, address)
	must.Do(t, errors.Join(other.Mkdir("d", 0o755), other.WriteFile("d/large", make([]byte, 17<<20), 0o644)))
	for _, mode := range []fs.FileMode{0o600, 0o644, 0o600, 0o644} {
		before, err := other.Stat("d/large")
		must.Do(t, err)
		r, err := s.BeginAt(ctx, store.Path{Top: store.Root, Name: "d/large"}, store.NeedNode)
		must.Do(t, err)
		must.Do(t, other.Chmod("d/large", mode))
		d, err := r.Lookup(store.Root, "d")
		must.Do(t, err)
		e, err := r.Lookup(d.Ino, "large")
		must.Do(t, err)
		n, err := r.Node(e.Ino)
		must.Do(t, err)
		if got := fs.FileMode(n.Mode & 0o777); got != before.Mode() {
			t.Errorf("%v, which was set later than the reader has begun; it was %v", got, before.Mode())
		}
		r.End()
	}
}

// TestRandomMoves lets one Store change a small tree at random. Another one, which remembers what
// it has seen, must see the same as a transaction, which looks up all names.
func TestRandomMoves(t *testing.T) {
	t.Parallel()
	address := pgserver.Volume(t)
	v, other := uncached(t, open(t, address, nil)), volume(t, address)
	r := rand.New(rand.NewPCG(rand.Uint64(), 0))
	name := func() string {
		list := make([]string, 1+r.IntN(4))
		for i := range list {
			list[i] = string(rune('a' + r.IntN(3)))
		}
		return strings.Join(list, "/")
	}
	made, missing := 0, 0
	for i := range 600 {
		var err error
		switch a, b := name(), name(); r.IntN(8) {
		case 0:
			err = other.Rename(a, b)
		case 1:
			err = other.RemoveAll(a)
		case 2:
			err = other.Symlink(name(), a)
		case 3:
			err = v.Rename(a, b)
		case 4:
			err = other.WriteFile(a, []byte(b), 0o644)
		default:
			err = other.MkdirAll(a, 0o755)
		}
		if err == nil {
			made++
		}
		for range 20 {
			path := name()
			got, err := v.Stat(path)
			var want fs.FileInfo
			wantErr := other.View(ctx, func(rx *folio.Rx) (err error) {
				want, err = rx.Stat(path)
				return err
			})
			if missing += 1; err == nil {
				missing--
			}
			if fmt.Sprint(err) != fmt.Sprint(wantErr) || err == nil && fmt.Sprintf("%v %+v", want.Mode(), want.Sys()) != fmt.Sprintf("%v %+v", got.Mode(), got.Sys()) {
				t.Fatalf("change %d, %s: %v, %v, want %v, %v", i, path, got, err, want, wantErr)
			}
		}
	}
	if made < 100 || missing < 1000 {
		t.Errorf("%d changes, %d names missing", made, missing)
	}
	checkWell(t, other)
}

// TestMissingTriggers takes away what Stores rely on, which Check must find.
func TestMissingTriggers(t *testing.T) {
	t.Parallel()
	for _, statement := range []string{
		"DROP TRIGGER drop_object ON data", "ALTER TABLE data DISABLE TRIGGER ALL",
	} {
		address := pgserver.Volume(t)
		v := volume(t, address)
		checkWell(t, v)
		_, err := connect(t, address).Exec(ctx, statement)
		must.Do(t, err)
		report, err := v.Check(ctx, nil)
		if err != nil || len(report.Problems) != 1 || !strings.Contains(report.Problems[0].What, "trigger") {
			t.Errorf("%s: %+v, %v", statement, report, err)
		}
	}
}
