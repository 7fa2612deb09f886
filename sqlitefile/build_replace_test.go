package sqlitefile

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// logLeft makes a database in WAL mode as a process leaves it that is killed: rows 1 to 20 are
// committed in its log.
func logLeft(t *testing.T) string {
	t.Helper()
	path, _ := logged(t, 20, Options{})
	left := filepath.Join(t.TempDir(), "left.db")
	for _, suffix := range []string{"", walSuffix, shmSuffix} {
		copyFile(t, left+suffix, path+suffix)
	}
	return left
}

// journalLeft makes a database with a hot journal, as the sqlite3 shell leaves it that is killed in
// a transaction: rows 1 to 20 are committed.
func journalLeft(t *testing.T) string {
	t.Helper()
	path := scripted(t, `CREATE TABLE t(a INTEGER PRIMARY KEY, b);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20) INSERT INTO t SELECT i, zeroblob(5000) FROM n`)
	left := filepath.Join(t.TempDir(), "left.db")
	copies := ".system cp " + path + " " + left + " && cp " + path + journalSuffix + " " + left + journalSuffix
	out, err := exec.Command("sqlite3", path, "PRAGMA cache_size=1; BEGIN; DELETE FROM t WHERE a > 3", copies).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return left
}

// persistLeft makes a database with a journal that is finished, but not removed.
func persistLeft(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "left.db")
	shell(t, path, "PRAGMA journal_mode=persist; CREATE TABLE t(a INTEGER PRIMARY KEY, b); INSERT INTO t VALUES(1, 2)")
	return path
}

func replacement(b *Builder) error {
	return errors.Join(b.Create("CREATE TABLE fresh(a)"), mustTable(b, "fresh").Append(1, "new"))
}

// wantReplaced checks that a database is the replacement, for SQLite too, and that nothing lies
// next to it.
func wantReplaced(t *testing.T, path, sql, want string) {
	t.Helper()
	if names, err := filepath.Glob(path + "*"); err != nil || len(names) != 1 {
		t.Errorf("%v, %v", names, err)
	}
	checkShell(t, path, sql+"; PRAGMA integrity_check", want+"\nok")
}

// A database whose log or journal was left by a process that was killed is replaced with it, by
// Build and by BackupFile.
func TestReplaceLeft(t *testing.T) {
	t.Parallel()
	for name, left := range map[string]func(*testing.T) string{"log": logLeft, "journal": journalLeft, "finished journal": persistLeft} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := left(t)
			if err := Build(t.Context(), path, &BuildOptions{Replace: true}, replacement); err != nil {
				t.Fatal(err)
			}
			wantReplaced(t, path, "SELECT * FROM fresh", "new")
			path = left(t)
			_, db := logged(t, 7, Options{})
			if err := db.BackupFile(t.Context(), path, &BackupOptions{Replace: true}); err != nil {
				t.Fatal(err)
			}
			wantReplaced(t, path, "SELECT count(*) FROM t", "7")
		})
	}
}

// While a database that is left waits to be replaced, and if the new one is never finished, all
// that was committed in it is there.
func TestReplaceRecoversFirst(t *testing.T) {
	t.Parallel()
	for name, left := range map[string]func(*testing.T) string{"log": logLeft, "journal": journalLeft} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := left(t)
			failed := errors.New("failed")
			if err := Build(t.Context(), path, &BuildOptions{Replace: true}, func(*Builder) error { return failed }); !errors.Is(err, failed) {
				t.Fatal(err)
			}
			if _, err := os.Stat(path + walSuffix); name == "log" && err != nil {
				t.Error(err)
			}
			target, err := newTarget(path, &BuildOptions{Replace: true})
			if err != nil {
				t.Fatal(err)
			}
			defer target.tmp.Discard()
			if placed, err := target.replaceOld(); placed || err != nil {
				t.Fatal(placed, err)
			}
			if err := target.recoverOld(); err != nil {
				t.Fatal(err)
			}
			if suffix, err := target.logSuffix(); suffix != "" || err != nil {
				t.Error(suffix, err)
			}
			checkShell(t, path, "SELECT count(*) FROM t; PRAGMA integrity_check", "20\nok")
		})
	}
}

// A log next to a name that no database has, or to a file that is none, is not taken for the old
// one's. One of a damaged database goes with it.
func TestReplaceStrayLog(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		old string
		ok  bool
	}{
		"none":     {"", false},
		"a text":   {strings.Repeat("text ", 200), false},
		"a header": {"SQLite format 3\x00" + strings.Repeat("\xff", 4080), false},
	} {
		path := filepath.Join(t.TempDir(), "x.db")
		writeFile(t, path+walSuffix, []byte("a log"))
		if c.old != "" {
			writeFile(t, path, []byte(c.old))
		}
		err := Build(t.Context(), path, &BuildOptions{Replace: true}, replacement)
		if (err == nil) != c.ok || !c.ok && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
		if c.old == "" && !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v", name, err)
		}
		if got, _ := os.ReadFile(path); string(got) != c.old {
			t.Errorf("%s: the file has changed", name)
		}
	}
}

// A database that is open elsewhere is not replaced, nor is its log touched.
func TestReplaceInUse(t *testing.T) {
	t.Parallel()
	path, db := logged(t, 5, Options{})
	if err := Build(t.Context(), path, &BuildOptions{Replace: true}, replacement); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	wantRows(t, db, 5)
	putRows(t, db, 6, 7)
	wantRows(t, db, 7)
}

// A log goes with a database that is damaged, as nothing can be played back into that.
func TestReplaceDamaged(t *testing.T) {
	t.Parallel()
	path := logLeft(t)
	for _, suffix := range []string{"", walSuffix} {
		data, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if suffix == "" {
			copy(data[16:], "\xff\xff") // no page size
		}
		writeFile(t, path+suffix, data)
	}
	if err := Build(t.Context(), path, &BuildOptions{Replace: true}, replacement); err != nil {
		t.Fatal(err)
	}
	wantReplaced(t, path, "SELECT * FROM fresh", "new")
}
