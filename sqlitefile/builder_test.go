package sqlitefile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/invariant"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/wine"
)

// build makes a database for a test: the statements first, then what fn appends.
func build(t testing.TB, o *BuildOptions, statements []string, fn func(b *Builder) error) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "built.db")
	err := Build(t.Context(), path, o, func(b *Builder) error {
		for _, s := range statements {
			if err := b.Create(s); err != nil {
				return err
			}
		}
		if fn == nil {
			return nil
		}
		return fn(b)
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// shell runs SQL on a database by the sqlite3 shell, which is the judge of what was built.
func shell(t testing.TB, path, sql string) string {
	t.Helper()
	if _, err := exec.LookPath("sqlite3"); err != nil {
		t.Skip("skipped: no sqlite3 shell to judge by")
	}
	cmd := exec.Command("sqlite3", "-batch", "-cmd", ".timeout 10000", path) // a lease of ours ends a few milliseconds later
	cmd.Stdin = strings.NewReader(sql)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("sqlite3: %v\n%s", err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// inShort returns few if the tests are to be short, as under the race detector, and otherwise many.
func inShort(few, many int) int {
	if testing.Short() {
		return few
	}
	return many
}

// inQuick returns few for "go test -short", which a user runs after a clone, and otherwise many.
// The race detector gets many, although it runs with -short: it looks for what goroutines do to
// each other.
func inQuick(few, many int) int {
	if testing.Short() && !invariant.Enabled {
		return few
	}
	return many
}

// thinned returns every n-th element of a list for quick tests, and otherwise all.
func thinned[T any](list []T, n int) (some []T) {
	for i := 0; i < len(list); i += inQuick(n, 1) {
		some = append(some, list[i])
	}
	return some
}

// checkShell compares what the shell answers.
func checkShell(t testing.TB, path, sql, want string) {
	t.Helper()
	if got := shell(t, path, sql); got != want {
		t.Errorf("%s\ngot:\n%s\nwant:\n%s", sql, clip(got), clip(want))
	}
}

func clip(s string) string {
	if len(s) > 2000 {
		return s[:2000] + "..."
	}
	return s
}

// mustTable returns a table that exists.
func mustTable(b *Builder, name string) *TableBuilder {
	t, err := b.Table(name)
	if err != nil {
		panic(err)
	}
	return t
}

// pattern returns n bytes without a zero that tell a row from others.
func pattern(seed, n int) []byte {
	r := rand.New(rand.NewPCG(uint64(seed), uint64(n)))
	b := make([]byte, n+8)
	for i := 0; i < n; i += 8 {
		binary.LittleEndian.PutUint64(b[i:], 0x6161616161616161+r.Uint64()&0x0f0f0f0f0f0f0f0f)
	}
	return b[:n:n]
}

func TestBuildPageSizes(t *testing.T) {
	t.Parallel()
	for size := 512; size <= 65536; size *= 2 {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			testTreeSizes(t, size, 0)
		})
	}
	t.Run("reserved", func(t *testing.T) {
		t.Parallel()
		testTreeSizes(t, 512, 32)
		testTreeSizes(t, 4096, 255)
	})
}

// testTreeSizes makes a database with trees of every number of rows from 0 up, far enough for three
// levels with small pages, all of which are filled at the same time. A page holds about eight rows.
func testTreeSizes(t *testing.T, pageSize, reserved int) {
	trees := 300
	switch {
	case testing.Short(), invariant.Enabled && pageSize > 512, pageSize > 16384:
		trees = 40
	case pageSize > 2048:
		trees = 100
	}
	keySize := pageSize / 12
	var create []string
	for n := range trees {
		create = append(create,
			fmt.Sprintf("CREATE TABLE t%d(id INTEGER PRIMARY KEY, k BLOB)", n),
			fmt.Sprintf("CREATE INDEX i%d ON t%d(k)", n, n),
			fmt.Sprintf("CREATE TABLE w%d(k BLOB PRIMARY KEY) WITHOUT ROWID", n))
	}
	key := pattern(pageSize, keySize)
	o := &BuildOptions{PageSize: pageSize, ReservedBytes: reserved, SortMemory: 4 << 20}
	path := build(t, o, create, func(b *Builder) error {
		for i := range trees {
			for n := i + 1; n < trees; n++ {
				copy(key, fmt.Sprintf("%06d", i))
				if err := mustTable(b, fmt.Sprint("w", n)).AppendKey(key); err != nil {
					return err
				}
				copy(key, fmt.Sprintf("%06d", (i*7919)%trees)) // the index has another order
				if err := mustTable(b, fmt.Sprint("t", n)).Append(int64(i)*1000, nil, key); err != nil {
					return err
				}
			}
		}
		return nil
	})
	var sql, want strings.Builder
	for n := range trees {
		fmt.Fprintf(&sql, "SELECT count(*), (SELECT count(*) FROM w%d), count(DISTINCT k), min(id), max(id) FROM t%d;\n", n, n)
		if n == 0 {
			fmt.Fprintln(&want, "0|0|0||")
		} else {
			fmt.Fprintf(&want, "%d|%d|%d|0|%d\n", n, n, n, (n-1)*1000)
		}
	}
	checkShell(t, path, "PRAGMA integrity_check;"+sql.String(), "ok\n"+strings.TrimSuffix(want.String(), "\n"))
}

// TestBuildSmallCells has keys so short that their cells are filled up, and every divider comes
// from such a cell.
func TestBuildSmallCells(t *testing.T) {
	t.Parallel()
	var create []string
	trees := []int{1, 2, 3, 83, 84, 85, 86, 87, 5000}
	for _, n := range trees {
		create = append(create, fmt.Sprintf("CREATE TABLE w%d(a BLOB, PRIMARY KEY(a)) WITHOUT ROWID", n))
	}
	path := build(t, &BuildOptions{PageSize: 512}, create, func(b *Builder) error {
		for _, n := range trees {
			table := mustTable(b, fmt.Sprint("w", n))
			for i := range n {
				if err := table.AppendKey(i); err != nil { // 0 and 1 have no bytes in the record
					return err
				}
			}
		}
		return nil
	})
	checkShell(t, path, "PRAGMA integrity_check; SELECT count(*), sum(a) FROM w5000; SELECT a FROM w2", "ok\n5000|12497500\n0\n1")
}

func TestBuildManyRows(t *testing.T) {
	t.Parallel()
	n := 100_000
	if testing.Short() || invariant.Enabled {
		n = 20_000
	}
	for _, size := range []int{512, 4096, 65536} {
		path := build(t, &BuildOptions{PageSize: size}, []string{
			"CREATE TABLE t(id INTEGER PRIMARY KEY, a INT, b TEXT UNIQUE)", "CREATE INDEX ta ON t(a DESC)",
		}, func(b *Builder) error {
			table := mustTable(b, "t")
			for i := range n {
				if err := table.Append(int64(i), i, i%1000, fmt.Sprintf("%x", uint32(i)*2654435761)); err != nil {
					return err
				}
			}
			return nil
		})
		checkShell(t, path, `PRAGMA integrity_check; PRAGMA page_size; SELECT count(*), sum(id), sum(a), count(DISTINCT b) FROM t;
			SELECT count(*) FROM t WHERE a = 7; SELECT id FROM t WHERE b = '3c6ef362'`,
			fmt.Sprintf("ok\n%d\n%d|%d|%d|%d\n%d\n2", size, n, int64(n)*int64(n-1)/2, n/1000*(999*1000/2), n, n/1000))
	}
}

// TestBuildOverflow has payloads around every size at which the split between page and overflow
// pages changes.
func TestBuildOverflow(t *testing.T) {
	t.Parallel()
	for size := 512; size <= 65536; size *= 2 {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			testOverflow(t, size)
		})
	}
}

// overflowSizes returns sizes of values near all thresholds.
func overflowSizes(pageSize int) (sizes []int) {
	room := pageSize - 4
	for _, local := range []int{(pageSize-12)*32/255 - 23, (pageSize-12)*64/255 - 23, pageSize - 35} {
		for pages := range 4 {
			for d := -8; d <= 4; d++ {
				sizes = append(sizes, max(0, local+pages*room+d))
			}
		}
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

func testOverflow(t *testing.T, pageSize int) {
	sizes := overflowSizes(pageSize)
	path := build(t, &BuildOptions{PageSize: pageSize}, []string{
		"CREATE TABLE t(id INTEGER PRIMARY KEY, b BLOB)", "CREATE INDEX tb ON t(b)",
		"CREATE TABLE w(id INT, b BLOB, PRIMARY KEY(id, b)) WITHOUT ROWID",
		"CREATE TABLE z(id INT PRIMARY KEY, b BLOB, c TEXT) WITHOUT ROWID",
	}, func(b *Builder) error {
		for i, n := range sizes {
			p := pattern(i, n)
			err := errors.Join(mustTable(b, "t").Append(int64(i), nil, p), mustTable(b, "w").AppendKey(i, p), mustTable(b, "z").AppendKey(i, p, "after"))
			if err != nil {
				return err
			}
		}
		return nil
	})
	checkOverflow(t, path, sizes)
	checkShell(t, path, "PRAGMA integrity_check; SELECT count(*) FROM t JOIN w USING(id, b) JOIN z USING(id, b) WHERE c = 'after'",
		fmt.Sprintf("ok\n%d", len(sizes)))
}

// checkOverflow reads back with our own reader.
func checkOverflow(t *testing.T, path string, sizes []int) {
	t.Helper()
	db, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.View(t.Context(), func(rx *Rx) error {
		table, err := rx.Table("t")
		if err != nil {
			return err
		}
		for i, n := range sizes {
			row, ok, err := table.Get(int64(i))
			if !ok || err != nil {
				return fmt.Errorf("row %d: %v, %w", i, ok, err)
			}
			if got, err := row.Bytes(1); err != nil || !bytes.Equal(got, pattern(i, n)) {
				t.Errorf("row %d of %d bytes differs: %v", i, n, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestBuildWideRow has headers of one, two and three bytes of length, the last on overflow pages.
func TestBuildWideRow(t *testing.T) {
	t.Parallel()
	for _, columns := range []int{1, 126, 127, 128, 2000} {
		names := make([]string, columns)
		values := make([]any, columns)
		for i := range names {
			names[i] = fmt.Sprint("c", i)
			values[i] = strings.Repeat("x", 60+i%7)
		}
		path := build(t, &BuildOptions{PageSize: 1024}, []string{"CREATE TABLE t(" + strings.Join(names, ",") + ")"}, func(b *Builder) error {
			return mustTable(b, "t").Append(1, values...)
		})
		last := names[columns-1]
		checkShell(t, path, "PRAGMA integrity_check; SELECT c0 || length("+last+") FROM t",
			fmt.Sprintf("ok\n%s%d", strings.Repeat("x", 60), 60+(columns-1)%7))
	}
}

func TestBuildSchema(t *testing.T) {
	t.Parallel()
	path := build(t, &BuildOptions{ApplicationID: 0x466F6C69, UserVersion: -7}, []string{
		"create table if not exists main.[a b](x integer primary key autoincrement, y text unique, z, unique(z, y desc)) -- comment",
		"CREATE UNIQUE INDEX yz ON [a b](z COLLATE RTRIM, y COLLATE NOCASE DESC);",
		"CREATE VIEW v(p) AS SELECT x FROM [a b] WHERE y > ';'",
		"CREATE TABLE child(p REFERENCES [a b](x) ON DELETE CASCADE, q DEFAULT (1+1))",
		"CREATE TABLE w(b, a, c UNIQUE, PRIMARY KEY(a DESC, b COLLATE NOCASE)) WITHOUT ROWID",
		"CREATE INDEX wc ON w(b)",
		"CREATE TABLE empty(x INTEGER PRIMARY KEY AUTOINCREMENT)",
	}, func(b *Builder) error {
		t := mustTable(b, "A B")
		w := mustTable(b, "w")
		return errors.Join(t.Append(-3, nil, "one", 1), t.Append(70, 70, "two", nil), mustTable(b, "child").Append(1, 70, 5),
			w.AppendKey("x", 3, 10), w.AppendKey("y", 3, 20), w.AppendKey("A", 1, nil), w.AppendKey("b", 1, nil))
	})
	checkShell(t, path, `PRAGMA integrity_check; PRAGMA foreign_key_check; PRAGMA application_id; PRAGMA user_version; PRAGMA encoding;
		SELECT type, name, tbl_name, rootpage > 1, sql FROM sqlite_schema; SELECT * FROM sqlite_sequence; SELECT * FROM [a b]; SELECT * FROM v ORDER BY p;
		SELECT * FROM w; SELECT b FROM w INDEXED BY wc WHERE b > 'A' ORDER BY b`,
		`ok
1181707369
-7
UTF-8
table|a b|a b|1|CREATE TABLE [a b](x integer primary key autoincrement, y text unique, z, unique(z, y desc))
index|sqlite_autoindex_a b_1|a b|1|
index|sqlite_autoindex_a b_2|a b|1|
table|sqlite_sequence|sqlite_sequence|1|CREATE TABLE sqlite_sequence(name,seq)
index|yz|a b|1|CREATE UNIQUE INDEX yz ON [a b](z COLLATE RTRIM, y COLLATE NOCASE DESC)
view|v|v|0|CREATE VIEW v(p) AS SELECT x FROM [a b] WHERE y > ';'
table|child|child|1|CREATE TABLE child(p REFERENCES [a b](x) ON DELETE CASCADE, q DEFAULT (1+1))
table|w|w|1|CREATE TABLE w(b, a, c UNIQUE, PRIMARY KEY(a DESC, b COLLATE NOCASE)) WITHOUT ROWID
index|sqlite_autoindex_w_1|w|1|
index|wc|w|1|CREATE INDEX wc ON w(b)
table|empty|empty|1|CREATE TABLE empty(x INTEGER PRIMARY KEY AUTOINCREMENT)
a b|70
-3|one|1
70|two|
-3
70
x|3|10
y|3|20
A|1|
b|1|
b
x
y`)
}

// TestBuildIsWritable lets SQLite change what was built.
func TestBuildIsWritable(t *testing.T) {
	t.Parallel()
	path := build(t, &BuildOptions{PageSize: 1024}, []string{
		"CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT UNIQUE)", "CREATE TABLE w(a PRIMARY KEY, b) WITHOUT ROWID",
	}, func(b *Builder) error {
		for i := range 3000 {
			err := errors.Join(mustTable(b, "t").Append(int64(2*i), nil, fmt.Sprint(i)), mustTable(b, "w").AppendKey(i, pattern(i, i%400)))
			if err != nil {
				return err
			}
		}
		return nil
	})
	checkShell(t, path, `INSERT INTO t(id, a) SELECT id + 1, a || 'x' FROM t; DELETE FROM w WHERE a % 3 = 0;
		UPDATE w SET b = zeroblob(3000) WHERE a % 7 = 0; PRAGMA integrity_check;
		CREATE INDEX wb ON w(b); DROP TABLE t; PRAGMA integrity_check; VACUUM; PRAGMA integrity_check; SELECT count(*) FROM w`, "ok\nok\nok\n2000")
}

func TestBuildEmpty(t *testing.T) {
	t.Parallel()
	path := build(t, nil, nil, nil)
	checkShell(t, path, "PRAGMA integrity_check; PRAGMA page_count; CREATE TABLE t(a); SELECT count(*) FROM t", "ok\n1\n0")
}

func TestBuildManyObjects(t *testing.T) {
	t.Parallel()
	var create []string
	for i := range 3000 {
		create = append(create, fmt.Sprintf("CREATE TABLE table_with_a_long_name_%d(a, b, c DEFAULT '%s')", i, strings.Repeat("x", i%700)))
	}
	for _, size := range []int{512, 1024, 4096} {
		path := build(t, &BuildOptions{PageSize: size}, create, nil)
		checkShell(t, path, "PRAGMA integrity_check; SELECT count(*), max(rowid) FROM sqlite_schema", "ok\n3000|3000")
	}
}

// TestBuildFirstPage has schemas that just fit into page 1, and just do not: as a leaf, and as an
// interior page.
func TestBuildFirstPage(t *testing.T) {
	t.Parallel()
	const size = 512
	shapes := map[string]int{}
	for length := 360; length < 480; length += 8 {
		path := build(t, &BuildOptions{PageSize: size, NoSync: true}, []string{longTable(0, length)}, nil)
		shapes[checkFirstPage(t, path, 1)]++
	}
	for objects := 48; objects < 70; objects++ { // each takes a leaf
		var create []string
		for i := range objects {
			create = append(create, longTable(i, 300))
		}
		path := build(t, &BuildOptions{PageSize: size, NoSync: true}, create, nil)
		shapes[checkFirstPage(t, path, objects)]++
	}
	if len(shapes) != 3 {
		t.Errorf("page 1 was only %v", shapes)
	}
}

// longTable makes a statement of about n bytes.
func longTable(i, n int) string {
	return fmt.Sprintf("CREATE TABLE t%d(a DEFAULT '%s')", i, strings.Repeat("x", n-30))
}

// checkFirstPage returns the shape of page 1.
func checkFirstPage(t *testing.T, path string, objects int) (shape string) {
	t.Helper()
	image, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	switch h, _ := format.ParsePageHeader(image, format.HeaderSize); {
	case h.Kind == format.LeafTable:
		shape = "leaf"
	case h.Cells == 0:
		shape = "interior page with one child"
	default:
		shape = "interior page"
	}
	checkShell(t, path, fmt.Sprintf("PRAGMA integrity_check; SELECT count(*) FROM sqlite_schema; INSERT INTO t%d DEFAULT VALUES; PRAGMA integrity_check", objects-1),
		fmt.Sprintf("ok\n%d\nok", objects))
	db, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.View(t.Context(), func(rx *Rx) error {
		list, err := rx.Objects()
		if len(list) != objects {
			t.Errorf("%d objects, want %d", len(list), objects)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return shape
}

func TestBuildTarget(t *testing.T) {
	t.Parallel()
	for _, noSync := range []bool{false, true} {
		testTarget(t, noSync)
	}
}

func testTarget(t *testing.T, noSync bool) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.db")
	make := func(replace bool) error {
		return Build(t.Context(), path, &BuildOptions{Replace: replace, NoSync: noSync}, func(b *Builder) error { return b.Create("CREATE TABLE t(a)") })
	}
	if err := make(true); err != nil {
		t.Fatal(err)
	}
	if err := make(false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("existing path: %v, want fs.ErrExist", err)
	}
	if err := make(true); err != nil {
		t.Errorf("replacing: %v", err)
	}
	names := []string{"x.db"}
	link := filepath.Join(dir, "link.db")
	if err := os.Symlink("x.db", link); err == nil && !wine.Here() { // which cannot read a link
		names = []string{"link.db", "x.db"}
		path = link
		if err := make(true); err != nil {
			t.Errorf("replacing by a link: %v", err)
		}
		if to, err := os.Readlink(link); to != "x.db" || err != nil {
			t.Errorf("the link was replaced: %q, %v", to, err)
		}
	}
	path = filepath.Join(dir, "none", "x.db")
	if err := make(false); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("no directory: %v", err)
	}
	path = dir
	if err := make(true); err == nil {
		t.Error("replaced a directory")
	}
	if wine.Here() {
		_ = os.Remove(link)
	}
	checkNames(t, dir, names...)
}

// checkNames compares what is in a directory.
func checkNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.Name()
	}
	if !slices.Equal(names, want) {
		t.Errorf("files %q, want %q", names, want)
	}
}

func TestBuildReplaceInUse(t *testing.T) {
	t.Parallel()
	path := build(t, nil, []string{"CREATE TABLE t(a)"}, nil)
	reader, err := osfile.Open(path, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := reader.Lock(osfile.Shared, format.SharedByte, format.SharedSize); err != nil {
		t.Skipf("skipped: no locks here: %v", err)
	}
	err = Build(t.Context(), path, &BuildOptions{Replace: true}, func(*Builder) error { return nil })
	if !errors.Is(err, ErrBusy) {
		t.Errorf("got %v, want ErrBusy", err)
	}
	checkNames(t, filepath.Dir(path), "built.db")
}

// TestBuildBesideJournal: SQLite would roll another database's journal back into the new one.
func TestBuildBesideJournal(t *testing.T) {
	t.Parallel()
	for _, suffix := range []string{"-journal", "-wal"} {
		dir := t.TempDir()
		path := filepath.Join(dir, "x.db")
		if err := os.WriteFile(path+suffix, []byte("leftover"), 0o666); err != nil {
			t.Fatal(err)
		}
		err := Build(t.Context(), path, nil, func(*Builder) error { return nil })
		if !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), suffix) {
			t.Errorf("%s: %v", suffix, err)
		}
		checkNames(t, dir, "x.db"+suffix)
	}
}

func TestBuildAllocations(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	err := Build(context.Background(), path, nil, func(b *Builder) error {
		create := []string{
			"CREATE TABLE t(id INTEGER PRIMARY KEY, a INT, b TEXT, c BLOB, d REAL, e TEXT)",
			"CREATE TABLE w(parent INT, name TEXT, ino INT, PRIMARY KEY(parent, name)) WITHOUT ROWID",
		}
		for _, s := range create {
			if err := b.Create(s); err != nil {
				return err
			}
		}
		table, w := mustTable(b, "t"), mustTable(b, "w")
		rowid, name, blob, wide := int64(0), []byte("name of a file 0000000"), make([]byte, 100), make([]byte, 10000)
		var failed error
		n := testing.AllocsPerRun(5000, func() {
			rowid++
			for i := len(name) - 1; ; i-- { // count on
				if name[i]++; name[i] <= '9' {
					break
				}
				name[i] = '0'
			}
			text := string(name) // one allocation, ours
			failed = errors.Join(failed, table.Append(2*rowid, nil, rowid+1000, text, blob, float64(rowid)/3, rowid))
			failed = errors.Join(failed, table.Append(2*rowid+1, 2*rowid+1, 12345, "text", wide, "1e3", 1.5))
			failed = errors.Join(failed, w.AppendKey(int(rowid)+100000, text, uint32(rowid)))
		})
		if n > 1 && !invariant.Enabled {
			t.Errorf("%v allocations for three rows, want none but the test's own", n)
		}
		return failed
	})
	if err != nil {
		t.Fatal(err)
	}
}
