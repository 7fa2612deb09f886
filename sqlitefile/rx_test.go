package sqlitefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"testing"

	"github.com/foliofs/folio/internal/race"
)

// TestInfo reads what the headers of the seeds tell.
func TestInfo(t *testing.T) {
	t.Parallel()
	want := []Info{
		{PageSize: 512, PageCount: 54, FreePages: 26, Encoding: "UTF-8"},
		{PageSize: 512, PageCount: 53, FreePages: 9, Encoding: "UTF-16le", AutoVacuum: true},
		{PageSize: 1024, PageCount: 8, Reserved: 24, Encoding: "UTF-8"},
	}
	for i, s := range seeds {
		db := open(t, s.path(), nil)
		if db.Path() != s.path() {
			t.Errorf("path %q, want %q", db.Path(), s.path())
		}
		view(t, db, func(rx *Rx) error {
			got := rx.Info()
			if got.SchemaVersion == 0 {
				t.Errorf("%s: no schema version", s.name)
			}
			if got.WriterVersion < 3_000_000 {
				t.Errorf("%s: written by version %d", s.name, got.WriterVersion)
			}
			got.SchemaVersion, got.WriterVersion = 0, 0
			if got != want[i] {
				t.Errorf("%s: %+v, want %+v", s.name, got, want[i])
			}
			return nil
		})
	}
	m := made(t, "PRAGMA application_id = 0x466f6c69; PRAGMA user_version = -7; CREATE TABLE t (a); PRAGMA encoding = 'UTF-16be'; PRAGMA journal_mode = WAL;")
	view(t, m.open(t, nil), func(rx *Rx) error {
		if i := rx.Info(); i.ApplicationID != 0x466f6c69 || i.UserVersion != -7 || !i.WAL {
			t.Errorf("%+v", i)
		}
		return nil
	})
}

// TestColumns lists the columns of tables and of what indexes hold.
func TestColumns(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	t.Parallel()
	view(t, open(t, seeds[1].path(), nil), func(rx *Rx) error {
		table, err := rx.Table("WORD")
		if err != nil {
			return err
		}
		want := []Column{
			{Name: "lang", Type: "TEXT", NotNull: true, Key: 1},
			{Name: "word", Type: "TEXT", NotNull: true, Key: 2},
			{Name: "n", Type: "INT", NotNull: true},
			{Name: "note"},
		}
		if got := table.Columns(); !slices.Equal(got, want) || table.Name() != "word" || !table.WithoutRowid() {
			t.Errorf("%s: %+v", table.Name(), got)
		}
		x, err := rx.Index("word_n")
		if err != nil {
			return err
		}
		if got := x.Columns(); !slices.Equal(got, []string{"n", "lang", "word"}) || x.Name() != "word_n" || x.Table() != "word" {
			t.Errorf("%s of %s: %v", x.Name(), x.Table(), got)
		}
		return nil
	})
}

// TestGuard reads in a transaction that was begun, of a file that is cut off meanwhile.
func TestGuard(t *testing.T) {
	t.Parallel()
	path := made(t, "CREATE TABLE t (a); "+counted(1000, "INSERT INTO t SELECT zeroblob(1000) FROM n")).write(t)
	rx, err := open(t, path, nil).BeginView(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer rx.End()
	n := 0
	read := func() error { return countRows(&n)(rx) }
	if err := rx.Guard(read); err != nil || n != 1000 {
		t.Errorf("%d rows, %v", n, err)
	}
	if err := os.Truncate(path, 8192); err != nil {
		t.Fatal(err)
	}
	if err := rx.Guard(read); !errors.Is(err, ErrFault) {
		t.Errorf("%v, want ErrFault", err)
	}
}

// TestErrors wants errors that name the file and what is wrong.
func TestErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for path, want := range map[string]error{dir + "/missing.db": fs.ErrNotExist, dir: nil} {
		_, err := Open(path, nil)
		var pathError *fs.PathError
		if !errors.As(err, &pathError) || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, e := range []*CorruptError{{Path: "a.db", Page: 7, What: "torn"}, {Path: "a.db", What: "torn"}} {
		want := "a.db: database is corrupt: torn"
		if e.Page != 0 {
			want = "a.db: database is corrupt: page 7: torn"
		}
		if err := fmt.Errorf("read: %w", e); !errors.Is(err, ErrCorrupt) || e.Error() != want {
			t.Errorf("%v", err)
		}
	}
	for _, p := range []struct {
		p    Problem
		want string
	}{
		{Problem{Page: 7, Object: "t", What: "torn"}, "t: page 7: torn"},
		{Problem{Page: 7, What: "torn"}, "page 7: torn"},
		{Problem{Object: "t", What: "torn"}, "t: torn"},
	} {
		if p.p.String() != p.want {
			t.Errorf("%q, want %q", p.p.String(), p.want)
		}
	}
}

// TestInfoWithin asks a transaction for what it has changed itself.
func TestInfoWithin(t *testing.T) {
	t.Parallel()
	db, err := Open(scripted(t, "CREATE TABLE t(a); INSERT INTO t VALUES (zeroblob(100000))"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	update(t, db, func(tx *Tx) error {
		before := tx.Info()
		table, err := tx.Table("t")
		if err != nil {
			return err
		}
		if _, err := table.Delete(1); err != nil {
			return err
		}
		if i := tx.Info(); i.FreePages < before.FreePages+20 || i.PageCount != before.PageCount {
			t.Errorf("%+v after %+v", i, before)
		}
		return nil
	})
}
