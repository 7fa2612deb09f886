package source

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio/sqlitefile"
)

const litefsSchema = `CREATE TABLE litefs_entry (id TEXT PRIMARY KEY, parent_id TEXT REFERENCES litefs_entry (id),
name TEXT, modtime TEXT, content BLOB)`

const litefsTime = "2022-05-02T23:34:15.5+02:00"

// writeLitefs writes a database of rows in the order of the columns.
func writeLitefs(t testing.TB, schema string, rows ...[]any) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.litefs")
	err := sqlitefile.Build(context.Background(), path, &sqlitefile.BuildOptions{PageSize: 512}, func(b *sqlitefile.Builder) error {
		if err := b.Create(schema); err != nil {
			return err
		}
		if !strings.HasSuffix(schema, "WITHOUT ROWID") {
			table, err := b.Table("litefs_entry")
			for i, row := range rows {
				err = errors.Join(err, table.Append(int64(i+1), row...))
			}
			if err != nil {
				return err
			}
		}
		return b.Create("CREATE TABLE more (a)")
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func collectLitefs(t *testing.T, rows ...[]any) ([]string, error) {
	t.Helper()
	src, err := Open(writeLitefs(t, litefsSchema, rows...), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	return collect(src)
}

func TestLitefsKinds(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("y", 3*smallSize)
	path := writeLitefs(
		t, litefsSchema,
		[]any{"6", "3", "deep", litefsTime, []byte("child before its parent")},
		[]any{"1", nil, "b", litefsTime, []byte("abc")},
		[]any{"2", nil, "empty", litefsTime, []byte{}},
		[]any{"3", "4", "e", litefsTime, nil},
		[]any{"4", nil, "d", litefsTime, nil},
		[]any{"5", "4", "text", litefsTime, "a text"},
		[]any{"7", "", "a", litefsTime, []byte("in the root, too")},
		[]any{"8", "4", "large", litefsTime, large},
		[]any{"9", "4", "\xff", litefsTime, []byte("no UTF-8")},
	)
	src, err := Open(path, os.Stdin, &Options{Warn: func(name, what string) { t.Errorf("%s: %s", name, what) }})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var lines []string
	err = src.Walk(t.Context(), func(e *Entry) error {
		line, err := describe(e)
		lines = append(lines, line)
		if !e.ModTime.Equal(time.Date(2022, 5, 2, 21, 34, 15, 500e6, time.UTC)) {
			t.Errorf("%s: %v", e.Name, e.ModTime)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	wantLines(t, lines, []string{
		`a -rw-r--r-- "in the root, too"`,
		`b -rw-r--r-- "abc"`,
		"d drwxr-xr-x",
		"d/e drwxr-xr-x",
		`d/e/deep -rw-r--r-- "child before its parent"`,
		`d/large -rw-r--r-- 3145728x"y"`,
		`d/text -rw-r--r-- "a text"`,
		"d/\xff -rw-r--r-- \"no UTF-8\"",
		`empty -rw-r--r-- ""`,
	})
}

func TestLitefsHostile(t *testing.T) {
	t.Parallel()
	file := func(id string, parent any, name string) []any {
		return []any{id, parent, name, litefsTime, []byte("x")}
	}
	dir := func(id string, parent any, name string) []any { return []any{id, parent, name, litefsTime, nil} }
	for name, tt := range map[string]struct {
		rows [][]any
		at   string // the entry that the error names
		want error
	}{
		"no parent":             {[][]any{file("1", nil, "a"), file("2", "9", "lost")}, "lost", ErrNoParent},
		"no root":               {[][]any{dir("1", "2", "a"), dir("2", "1", "b")}, "a", ErrNoParent},
		"its own parent":        {[][]any{file("1", nil, "a"), dir("2", "2", "self")}, "self", ErrNoParent},
		"its own empty parent":  {[][]any{dir("", "", "self"), file("1", nil, "a")}, "self", ErrNoParent},
		"a file as parent":      {[][]any{file("1", nil, "a"), file("2", "1", "b")}, "a/b", ErrParent},
		"two names in the root": {[][]any{dir("1", nil, "a"), dir("2", nil, "a")}, "a", ErrDuplicate},
		"two, by an empty id":   {[][]any{file("1", nil, "a"), file("2", "", "a")}, "a", ErrDuplicate},
		"two names":             {[][]any{dir("1", nil, "d"), file("2", "1", "a"), file("3", "1", "a")}, "d/a", ErrDuplicate},
		"slash":                 {[][]any{file("1", nil, "a/b")}, "a/b", ErrName},
		"up":                    {[][]any{dir("1", nil, "..")}, "..", ErrName},
		"dot":                   {[][]any{dir("1", nil, ".")}, ".", ErrName},
		"no name":               {[][]any{file("1", nil, "")}, "", ErrName},
		"NUL":                   {[][]any{file("1", nil, "a\x00b")}, "a\x00b", ErrName},
		"absolute":              {[][]any{file("1", nil, "/etc")}, "/etc", ErrName},
		"name NULL":             {[][]any{{"1", nil, nil, litefsTime, nil}}, "", ErrDamaged},
		"name of bytes":         {[][]any{{"1", nil, []byte("a"), litefsTime, nil}}, "", ErrDamaged},
		"id NULL":               {[][]any{{nil, nil, "a", litefsTime, nil}}, "a", ErrDamaged},
		"id of bytes":           {[][]any{{[]byte("1"), nil, "a", litefsTime, nil}}, "a", ErrDamaged},
		"parent of bytes":       {[][]any{dir("1", nil, "d"), file("2", []byte("1"), "a")}, "a", ErrDamaged},
		"time NULL":             {[][]any{{"1", nil, "a", nil, nil}}, "a", ErrDamaged},
		"time of bytes":         {[][]any{{"1", nil, "a", []byte(litefsTime), nil}}, "a", ErrDamaged},
		"content of an integer": {[][]any{{"1", nil, "a", litefsTime, 7}}, "a", ErrDamaged},
		"content of a float":    {[][]any{{"1", nil, "a", litefsTime, 7.5}}, "a", ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines, err := collectLitefs(t, tt.rows...)
			if e, ok := errors.AsType[*EntryError](err); !ok || !errors.Is(err, tt.want) || e.Name != tt.at {
				t.Errorf("got %q, %v, want %v at %q", lines, err, tt.want, tt.at)
			}
		})
	}
}

// A walk tells about rows that are no files, and about times that do not parse.
func TestLitefsWarns(t *testing.T) {
	t.Parallel()
	path := writeLitefs(
		t, litefsSchema,
		[]any{"1", nil, "a", "yesterday", []byte("x")},
		[]any{"2", nil, "b", "", nil},
		[]any{"3", nil, "c", "9999-12-31T23:59:59Z", nil},
	)
	db, err := sqlitefile.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(t.Context(), func(tx *sqlitefile.Tx) error {
		table, err := tx.Table("more")
		if err == nil {
			_, err = table.Insert("a row")
		}
		return err
	})
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	var warnings []string
	src, err := Open(path, nil, &Options{Warn: func(name, what string) { warnings = append(warnings, name+": "+what) }})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	err = src.Walk(t.Context(), func(e *Entry) error {
		if old := e.ModTime.Unix() == 0; old != (e.Name != "c") {
			t.Errorf("%s: %v", e.Name, e.ModTime)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"modtime: times that do not parse, 2 in all", "more: a table that is not of LiteFS"}
	if !slices.Equal(warnings, want) {
		t.Errorf("got %q", warnings)
	}
}

// Two entries with one id are an error where the schema does not forbid them. A table of that name
// with other columns is not of LiteFS.
func TestLitefsSchemas(t *testing.T) {
	t.Parallel()
	row := []any{"1", nil, "a", litefsTime, nil}
	src, err := Open(writeLitefs(t, "CREATE TABLE litefs_entry (id, parent_id, name, modtime, content)", row, row), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if lines, err := collect(src); !errors.Is(err, ErrDamaged) {
		t.Errorf("two ids: %q, %v", lines, err)
	}
	for _, schema := range []string{
		"CREATE TABLE litefs_entry (id, parent_id, name, content)",
		"CREATE TABLE litefs_entry (id TEXT PRIMARY KEY, parent_id, name, modtime, content) WITHOUT ROWID",
	} {
		if _, err := Open(writeLitefs(t, schema), nil, nil); !errors.Is(err, ErrDatabase) {
			t.Errorf("%s: %v", schema, err)
		}
	}
}
