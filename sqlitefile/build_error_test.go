package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestBuildErrors has everything that a build refuses: one line that names path and cause, and
// nothing left on disk.
func TestBuildErrors(t *testing.T) {
	t.Parallel()
	const table = "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT NOT NULL, b UNIQUE)"
	const without = "CREATE TABLE t(a, b, c, PRIMARY KEY(a COLLATE NOCASE, b DESC)) WITHOUT ROWID"
	const strict = "CREATE TABLE t(i INT, r REAL, x TEXT, b BLOB, y ANY, PRIMARY KEY(i)) STRICT"
	row := func(rowid int64, values ...any) func(*Builder) error {
		return func(b *Builder) error { return mustTable(b, "t").Append(rowid, values...) }
	}
	key := func(values ...any) func(*Builder) error {
		return func(b *Builder) error { return mustTable(b, "t").AppendKey(values...) }
	}
	type rows = []func(*Builder) error
	tests := []struct {
		create string
		rows   rows
		is     error
		want   string
	}{
		{table, rows{row(1, nil, "x", 1), row(1, nil, "y", 2)}, nil, "table t: rowid 1 after 1: rowids must ascend"},
		{table, rows{row(1, nil, "x", 1), row(-1, nil, "y", 2)}, nil, "table t: rowid -1 after 1: rowids must ascend"},
		{table, rows{row(1, "x", 1)}, nil, "table t has 3 columns but 2 values were given"},
		{table, rows{row(1, 2, "x", 1)}, nil, "t.id is the rowid, 1, but was given another value"},
		{table, rows{row(1, "x", "x", 1)}, nil, "t.id is the rowid, 1, but was given another value"},
		{table, rows{row(1, nil, nil, 1)}, ErrConstraint, "NOT NULL constraint failed: t.a"},
		{table, rows{row(1, nil, []byte(nil), 1)}, ErrConstraint, "NOT NULL constraint failed: t.a"},
		{table, rows{row(1, nil, "x", 7), row(2, nil, "x", 7.0)}, ErrConstraint, "UNIQUE constraint failed: t.b"},
		{table, rows{row(1, nil, struct{}{}, 7)}, ErrUnsupported, "t.a: not supported: struct {} as a value"},
		{table, rows{row(1, nil, uint64(1<<63), 7)}, ErrUnsupported, "t.a: not supported: an integer above 9223372036854775807 as a value"},
		{table, rows{key(nil, "x", 7)}, nil, "table t has rowids: its rows are added with them"},
		{without, rows{row(1, 1, 2, 3)}, nil, "table t has no rowids: its rows are added by key"},
		{without, rows{key("x", 1, 1), key("X", 1, 2)}, ErrConstraint, "UNIQUE constraint failed: t.a, t.b"},
		{without, rows{key("x", 1, 1), key("X", 2, 2)}, nil, "table t: row 2 comes before row 1 in the order of the primary key"},
		{without, rows{key("x", nil, 1)}, ErrConstraint, "NOT NULL constraint failed: t.b"},
		{strict, rows{row(1, "x", nil, nil, nil, nil)}, ErrConstraint, "cannot store TEXT value in INT column t.i"},
		{strict, rows{row(1, 1.5, nil, nil, nil, nil)}, ErrConstraint, "cannot store REAL value in INT column t.i"},
		{strict, rows{row(1, nil, nil, nil, nil, nil)}, ErrConstraint, "NOT NULL constraint failed: t.i"},
		{strict, rows{row(1, 1, "x", nil, nil, nil)}, ErrConstraint, "cannot store TEXT value in REAL column t.r"},
		{strict, rows{row(1, 1, nil, []byte("x"), nil, nil)}, ErrConstraint, "cannot store BLOB value in TEXT column t.x"},
		{strict, rows{row(1, 1, nil, nil, 7, nil)}, ErrConstraint, "cannot store INT value in BLOB column t.b"},
		{"CREATE TABLE t(a, CHECK(a > 0))", nil, ErrUnsupported, "not supported: table t: CHECK(a > 0)"},
		{"CREATE TABLE t(a, b AS (a))", nil, ErrUnsupported, "not supported: generated column t.b"},
		{"CREATE TABLE t(a COLLATE klingon)", nil, ErrUnsupported, "not supported: collation klingon"},
		{"CREATE TABLE t(a, UNIQUE(a COLLATE klingon))", nil, ErrUnsupported, "not supported: collation klingon"},
		{"CREATE TEMP TABLE t(a)", nil, ErrUnsupported, "not supported: table t: TEMP"},
		{"CREATE TABLE other.t(a)", nil, ErrUnsupported, "not supported: table t in database other"},
		{"CREATE VIRTUAL TABLE t USING fts5(a)", nil, ErrUnsupported, "not supported: virtual table t"},
		{table + ";CREATE TRIGGER r DELETE ON t BEGIN SELECT 1; END", nil, nil, ""},
		{"CREATE TABLE sqlite_x(a)", nil, nil, "object name reserved for internal use: sqlite_x"},
		{"CREATE INDEX i ON nowhere(a)", nil, ErrNoTable, "no such table: nowhere"},
		{"SELECT 1", nil, nil, ""},
	}
	for _, test := range tests {
		checkRefused(t, test.is, test.want, func(b *Builder) error {
			if err := b.Create(test.create); err != nil {
				return err
			}
			for _, f := range test.rows {
				if err := f(b); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

func TestBuildErrorsOfIndexes(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]string{
		"CREATE INDEX i ON t(a) WHERE b > 1":                          "not supported: partial index i",
		"CREATE INDEX i ON t(a, lower(b))":                            "not supported: index i on the expression lower(b)",
		"CREATE INDEX i ON t(a COLLATE klingon)":                      "not supported: collation klingon",
		"CREATE INDEX T ON t(a)":                                      "there is already a table named t",
		"CREATE VIEW t AS SELECT 1":                                   "there is already a table named t",
		"CREATE TRIGGER r DELETE ON t BEGIN SELECT 1; END":            "not supported: trigger r",
		"CREATE TRIGGER r INSTEAD OF DELETE ON t BEGIN SELECT 1; END": "there is no view t",
		"CREATE INDEX sqlite_i ON t(a)":                               "object name reserved for internal use: sqlite_i",
		"CREATE TABLE sqlite_autoindex_t_1(a)":                        "object name reserved for internal use: sqlite_autoindex_t_1",
		"CREATE INDEX i ON t(nothing)":                                "",
		"CREATE TEMP VIEW v AS SELECT 1":                              "not supported: view v: TEMP",
		"CREATE INDEX i ON t(a) -- the rows are there already":        "",
	} {
		checkRefused(t, nil, want, func(b *Builder) error {
			if err := b.Create("CREATE TABLE t(a, b)"); err != nil {
				return err
			}
			if strings.Contains(sql, "--") {
				if err := mustTable(b, "t").Append(1, 1, 2); err != nil {
					return err
				}
			}
			return b.Create(sql)
		})
	}
}

// checkRefused runs a build that must fail, and leave nothing. A want of "" is any error.
func checkRefused(t *testing.T, is error, want string, fn func(*Builder) error) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "x.db")
	err := Build(t.Context(), path, nil, fn)
	if err == nil {
		t.Errorf("no error, want %s", want)
		return
	}
	if is != nil && !errors.Is(err, is) {
		t.Errorf("%v is not %v", err, is)
	}
	if want != "" && err.Error() != "build "+path+": "+want {
		t.Errorf("got  %v\nwant build %s: %s", err, path, want)
	}
	if strings.Count(err.Error(), path) != 1 || strings.ContainsRune(err.Error(), '\n') {
		t.Errorf("not one line with the path once: %q", err)
	}
	checkNames(t, dir)
}

// TestBuildErrorIgnored: a builder remembers.
func TestBuildErrorIgnored(t *testing.T) {
	t.Parallel()
	checkRefused(t, ErrConstraint, "NOT NULL constraint failed: t.a", func(b *Builder) error {
		if err := b.Create("CREATE TABLE t(a NOT NULL)"); err != nil {
			return err
		}
		table := mustTable(b, "t")
		_ = table.Append(1, nil)
		if err := table.Append(2, 2); !errors.Is(err, ErrConstraint) {
			t.Errorf("after a failure: %v", err)
		}
		return nil
	})
}

func TestBuildAfterEnd(t *testing.T) {
	t.Parallel()
	var kept *TableBuilder
	var builder *Builder
	build(t, nil, []string{"CREATE TABLE t(a)"}, func(b *Builder) error {
		builder, kept = b, mustTable(b, "t")
		return nil
	})
	for _, err := range []error{kept.Append(1, 1), builder.Create("CREATE TABLE u(a)")} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("got %v, want ErrClosed", err)
		}
	}
}

func TestBuildOptionErrors(t *testing.T) {
	t.Parallel()
	for _, o := range []BuildOptions{{PageSize: 100}, {PageSize: 1000}, {PageSize: 131072}, {PageSize: 512, ReservedBytes: 33}, {ReservedBytes: -1}, {ReservedBytes: 256}} {
		path := filepath.Join(t.TempDir(), "x.db")
		if err := Build(t.Context(), path, &o, func(*Builder) error { return nil }); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

// TestBuildFailure ends a build that has written a good deal, with spilled keys, in every way.
func TestBuildFailure(t *testing.T) {
	t.Parallel()
	stop := errors.New("stop")
	before := runtime.NumGoroutine()
	for name, end := range map[string]func(cancel func()) error{
		"error":  func(func()) error { return stop },
		"panic":  func(func()) error { panic(stop) },
		"cancel": func(cancel func()) error { cancel(); return nil },
	} {
		dir := t.TempDir()
		err := failBuild(t, filepath.Join(dir, "x.db"), end)
		if !errors.Is(err, stop) && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		checkNames(t, dir)
	}
	for range 1000 {
		if runtime.NumGoroutine() <= before {
			break
		}
		runtime.Gosched()
	}
}

func failBuild(t *testing.T, path string, end func(cancel func()) error) (err error) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	defer func() {
		if r := recover(); r != nil {
			err = r.(error)
		}
	}()
	return Build(ctx, path, &BuildOptions{SortMemory: 1 << 20}, func(b *Builder) error {
		if err := b.Create("CREATE TABLE t(a TEXT UNIQUE)"); err != nil {
			return err
		}
		table := mustTable(b, "t")
		for i := range 50_000 {
			if err := table.Append(int64(i), pattern(i, 100)); err != nil {
				return err
			}
		}
		return end(cancel)
	})
}

// TestBuildCancel cancels in the middle of appending: the rows after it are refused soon.
func TestBuildCancel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	blob := make([]byte, 100_000)
	rows := 0
	err := Build(ctx, filepath.Join(dir, "x.db"), nil, func(b *Builder) error {
		if err := b.Create("CREATE TABLE t(a)"); err != nil {
			return err
		}
		table := mustTable(b, "t")
		cancel()
		for ; rows < 1000; rows++ {
			if err := table.Append(int64(rows), blob); err != nil {
				return err
			}
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || rows > 100 {
		t.Errorf("got %v after %d rows", err, rows)
	}
	checkNames(t, dir)
	if err := Build(ctx, filepath.Join(dir, "x.db"), nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
}

// TestBuildRowTooLarge gives a row beyond SQLite's limit: one value, often.
func TestBuildRowTooLarge(t *testing.T) {
	t.Parallel()
	blob := make([]byte, maxRow/100)
	columns := strings.Repeat("c%d,", 101)
	values := make([]any, 101)
	numbers := make([]any, 101)
	for i := range values {
		values[i], numbers[i] = blob, i
	}
	checkRefused(t, nil, "table t: row of 1010000406 bytes: more than 1000000000", func(b *Builder) error {
		if err := b.Create(fmt.Sprintf("CREATE TABLE t("+strings.TrimSuffix(columns, ",")+")", numbers...)); err != nil {
			return err
		}
		return mustTable(b, "t").Append(1, values...)
	})
}

// TestBuildFullDisk fills a small file system.
func TestBuildFullDisk(t *testing.T) {
	dir := smallDisk(t)
	path := filepath.Join(dir, "x.db")
	for _, rows := range []int{1, 100} { // fails in the last write, and in the middle
		err := Build(t.Context(), path, nil, func(b *Builder) error {
			if err := b.Create("CREATE TABLE t(a)"); err != nil {
				return err
			}
			blob := make([]byte, 1_100_000/rows*max(1, rows/20))
			for i := range rows {
				if err := mustTable(b, "t").Append(int64(i), blob); err != nil {
					return err
				}
			}
			return nil
		})
		var pe *fs.PathError
		if !errors.As(err, &pe) || pe.Path != path || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("%d rows: %v", rows, err)
		}
		checkNames(t, dir)
	}
}

func TestBuildFullTempDir(t *testing.T) {
	temp := smallDisk(t)
	dir := t.TempDir()
	err := Build(t.Context(), filepath.Join(dir, "x.db"), &BuildOptions{SortMemory: 1 << 20, TempDir: temp}, func(b *Builder) error {
		if err := b.Create("CREATE TABLE t(a UNIQUE)"); err != nil {
			return err
		}
		for i := range 5000 {
			if err := mustTable(b, "t").Append(int64(i), pattern(i, 1000)); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("got %v", err)
	}
	checkNames(t, dir)
	checkNames(t, temp)
}

// smallDisk mounts a file system of a megabyte.
func smallDisk(t *testing.T) (dir string) {
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("skipped: mounting a small disk needs root on Linux")
	}
	dir = t.TempDir()
	if out, err := runCommand("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", dir); err != nil {
		t.Skipf("skipped: cannot mount a small disk: %s", out)
	}
	t.Cleanup(func() {
		if out, err := runCommand("umount", dir); err != nil {
			t.Errorf("umount: %s", out)
		}
	})
	return dir
}

func runCommand(name string, args ...string) ([]byte, error) {
	return exec.Command(name, args...).CombinedOutput()
}

func ExampleBuild() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	err = Build(context.Background(), filepath.Join(dir, "words.db"), nil, func(b *Builder) error {
		if err := b.Create("CREATE TABLE word(id INTEGER PRIMARY KEY, text TEXT UNIQUE NOT NULL)"); err != nil {
			return err
		}
		words, err := b.Table("word")
		if err != nil {
			return err
		}
		for i, w := range strings.Fields("one two three two") {
			if err := words.Append(int64(i+1), nil, w); err != nil {
				return err
			}
		}
		return nil
	})
	fmt.Println(errors.Is(err, ErrConstraint), errors.Unwrap(err))
	// Output: true UNIQUE constraint failed: word.text
}
