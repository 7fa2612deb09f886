package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/osfile/crashfs"
	"github.com/foliofs/folio/internal/osfile/faultfs"
	"github.com/foliofs/folio/internal/pager"
)

// everyKind is a schema with all that a database may have, most of it deleted again.
const everyKind = `PRAGMA application_id=1234; PRAGMA user_version=-5;
	CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a TEXT UNIQUE, b BLOB, c AS (a || 'x')); CREATE INDEX tb ON t(b DESC, a);
	CREATE INDEX part ON t(a) WHERE id > 100; CREATE INDEX expr ON t(length(b) + id);
	CREATE TABLE k(a TEXT COLLATE NOCASE, b BLOB, PRIMARY KEY(a, b DESC)) WITHOUT ROWID; CREATE INDEX kb ON k(b);
	CREATE TABLE none(x); CREATE TABLE big(x); CREATE TABLE other(x);
	CREATE TRIGGER tt AFTER DELETE ON none BEGIN DELETE FROM other; END; CREATE VIEW v AS SELECT * FROM t;
	WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500) INSERT INTO t(id, a, b) SELECT i, 'key' || (i * 7919 % 2503), randomblob(i % 900) FROM n;
	INSERT INTO k SELECT a, b FROM t; INSERT INTO big VALUES(zeroblob(300000)), (NULL); INSERT INTO other SELECT id FROM t;
	DELETE FROM t WHERE id % 10; DELETE FROM k WHERE a NOT IN (SELECT a FROM t); DROP TABLE other; ANALYZE;`

// content are queries whose answers Compact must not change.
const content = `PRAGMA integrity_check; PRAGMA foreign_key_check; PRAGMA application_id; PRAGMA user_version; PRAGMA page_size; PRAGMA encoding; PRAGMA journal_mode;
	PRAGMA auto_vacuum; SELECT rowid, type, name, tbl_name, sql FROM sqlite_schema; SELECT id, a, hex(b), c FROM t; SELECT a FROM t INDEXED BY tb ORDER BY b DESC, a;
	SELECT a FROM t INDEXED BY part WHERE id > 100 ORDER BY a; SELECT a, hex(b) FROM k; SELECT a FROM k INDEXED BY kb ORDER BY b; SELECT rowid, length(x) FROM big;
	SELECT * FROM sqlite_sequence; SELECT * FROM sqlite_stat1;`

func TestCompact(t *testing.T) {
	t.Parallel()
	for i, f := range thinned(flavours, 3) {
		t.Run(strings.ReplaceAll(f, "PRAGMA ", ""), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "x.db")
			shell(t, path, f+";VACUUM;"+everyKind)
			want := shell(t, path, content)
			theirs := filepath.Join(t.TempDir(), "vacuumed.db")
			copyFile(t, theirs, path)
			shell(t, theirs, "VACUUM")
			db, err := Open(path, &Options{NoMmap: i%2 == 0})
			if err != nil {
				t.Fatal(err)
			}
			var before uint64
			view(t, db, func(rx *Rx) error { before = rx.Version(); return nil })
			if err := db.Compact(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			// The entries of the indexes tb and kb come in a random order, with different sizes:
			// each of the two may take a page more or less than in another order.
			if a, b := fileSize(t, path), fileSize(t, theirs)+2*int64(pageSizeOf(t, db)); a > b {
				t.Errorf("%d bytes, VACUUM leaves %d less two pages", a, b)
			}
			report, err := db.Check(t.Context(), nil)
			if err != nil || !report.OK() {
				t.Errorf("%v: %v", err, report)
			}
			view(t, db, func(rx *Rx) error {
				if rx.Version() <= before {
					t.Errorf("version %d after %d", rx.Version(), before)
				}
				return nil
			})
			if err := db.Exec(t.Context(), "CREATE TABLE later(a); DROP TABLE later"); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			checkShell(t, path, content, want)
			if names, err := filepath.Glob(path + "*"); err != nil || len(names) != 1 {
				t.Errorf("%v, %v", names, err)
			}
		})
	}
}

func copyFile(tb testing.TB, to, from string) {
	tb.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		tb.Fatal(err)
	}
	writeFile(tb, to, data)
}

func fileSize(tb testing.TB, path string) int64 {
	tb.Helper()
	info, err := os.Stat(path)
	if err != nil {
		tb.Fatal(err)
	}
	return info.Size()
}

// TestCompactEmpty has nothing to copy, in one kind of database after the other.
func TestCompactEmpty(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"", "CREATE TABLE t(a)", "CREATE VIEW v AS SELECT 1"} {
		for _, f := range thinned(flavours, 3) {
			path := scripted(t, f+";"+script)
			db := open(t, path, nil)
			for range 2 {
				if err := db.Compact(t.Context(), nil); err != nil {
					t.Fatalf("%s: %v", f, err)
				}
			}
			if report, err := db.Check(t.Context(), nil); err != nil || !report.OK() {
				t.Errorf("%s; %s: %v %v", f, script, err, report)
			}
		}
	}
	db := open(t, filepath.Join(t.TempDir(), "new.db"), &Options{Create: true, JournalMode: JournalWAL})
	if err := db.Compact(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

// TestCompactBusy has other connections in the way, which find everything as it was.
func TestCompactBusy(t *testing.T) {
	t.Parallel()
	for _, mode := range []JournalMode{JournalDelete, JournalWAL} {
		path := filepath.Join(t.TempDir(), "x.db")
		db := open(t, path, &Options{Create: true, JournalMode: mode, BusyTimeout: 20 * time.Millisecond})
		if err := db.Exec(t.Context(), "CREATE TABLE t(a); CREATE TABLE u(a); DROP TABLE u"); err != nil {
			t.Fatal(err)
		}
		busy := func(who string) {
			t.Helper()
			if err := db.Compact(t.Context(), nil); !errors.Is(err, ErrBusy) {
				t.Errorf("mode %d, %s: %v", mode, who, err)
			}
			if names, _ := filepath.Glob(path + "-compact"); len(names) > 0 {
				t.Errorf("%v is left", names)
			}
		}
		rx, err := db.BeginView(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		busy("a reader of our own")
		if objects, err := rx.Objects(); len(objects) != 1 || err != nil {
			t.Errorf("%v, %v", objects, err)
		}
		rx.End()
		other, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if rx, err = other.BeginView(t.Context()); err != nil {
			t.Fatal(err)
		}
		busy("a reader of another")
		if objects, err := rx.Objects(); len(objects) != 1 || err != nil {
			t.Errorf("%v, %v", objects, err)
		}
		rx.End()
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
		if err := db.Compact(t.Context(), nil); err != nil {
			t.Errorf("alone: %v", err)
		}
		checkShell(t, path, "SELECT name FROM sqlite_schema", "t")
	}
}

// TestCompactReplaced has another connection that is idle, where the system does not tell: it must
// not read the old file, nor write to it.
func TestCompactReplaced(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	db := open(t, path, &Options{Create: true, system: faultfs.New(osfile.OS)})
	if err := db.Exec(t.Context(), "CREATE TABLE t(a)"); err != nil {
		t.Fatal(err)
	}
	idle := open(t, path, &Options{BusyTimeout: -1})
	for readers := 1; readers > 0; readers = idle.Stats().Readers + idle.pager.Probe().Leases() {
		idle.pager.Probe().RetireLeases()
	}
	err := db.Compact(t.Context(), nil)
	if !osfile.ReplacesOpen {
		if !errors.Is(err, ErrBusy) {
			t.Errorf("where the system tells: %v", err)
		}
		for table, db := range map[string]*DB{"u": db, "v": idle} { // as if nothing had been tried
			if err := db.Exec(t.Context(), "CREATE TABLE "+table+"(a)"); err != nil {
				t.Error(err)
			}
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := idle.View(t.Context(), func(*Rx) error { return nil }); !errors.Is(err, ErrBusy) {
		t.Errorf("%v", err)
	}
	if err := idle.Exec(t.Context(), "CREATE TABLE u(a)"); !errors.Is(err, ErrBusy) {
		t.Errorf("%v", err)
	}
}

// TestCompactConcurrent compacts again and again while other goroutines read and write by this DB.
func TestCompactConcurrent(t *testing.T) {
	t.Parallel()
	for _, mode := range []JournalMode{JournalDelete, JournalWAL} {
		db := open(t, filepath.Join(t.TempDir(), "x.db"), &Options{Create: true, JournalMode: mode, Durability: DurabilityOff, system: watch(t, osfile.OS, DurabilityOff)})
		if err := db.Exec(t.Context(), "CREATE TABLE account(id INTEGER PRIMARY KEY, amount INT, note TEXT); CREATE INDEX note ON account(note)"); err != nil {
			t.Fatal(err)
		}
		update(t, db, func(tx *Tx) error {
			table, err := tx.Table("account")
			for i := 0; i < 200 && err == nil; i++ {
				_, err = table.Insert(nil, 100, strings.Repeat("x", i))
			}
			return err
		})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for w := range 2 {
			wg.Go(func() {
				for n := 0; ctx.Err() == nil; n++ {
					if err := transfer(db, int64(1+(w+n*7)%200), int64(1+(w*3+n*11)%200), n); err != nil {
						t.Error(err)
						return
					}
				}
			})
			wg.Go(func() {
				for ctx.Err() == nil {
					if err := db.View(context.Background(), sumAccounts); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		for range 15 {
			if err := db.Compact(t.Context(), nil); err != nil {
				t.Error(err)
			}
		}
		cancel()
		wg.Wait()
		if report, err := db.Check(t.Context(), nil); err != nil || !report.OK() {
			t.Errorf("%v %v", err, report)
		}
	}
}

func sumAccounts(rx *Rx) error {
	table, err := rx.Table("account")
	if err != nil {
		return err
	}
	sum := int64(0)
	for row, err := range table.All() {
		if err != nil {
			return err
		}
		amount, err := row.Int64(1)
		if err != nil {
			return err
		}
		sum += amount
	}
	if sum != 200*100 {
		return fmt.Errorf("the sum is %d", sum)
	}
	return nil
}

// compactable makes a database worth compacting on a file system of a test.
func compactable(t *testing.T, o *Options) *DB {
	t.Helper()
	db, err := Open(crashPath, o)
	if err != nil {
		t.Fatal(err)
	}
	update(t, db, func(tx *Tx) error {
		if err := tx.Exec("CREATE TABLE t(a, b); CREATE INDEX ta ON t(a); CREATE TABLE gone(a)"); err != nil {
			return err
		}
		table, err := tx.Table("t")
		for i := 0; i < 40 && err == nil; i++ {
			_, err = table.Insert(i, strings.Repeat("b", i*20))
		}
		return err
	})
	if err := db.Exec(t.Context(), "DROP TABLE gone"); err != nil {
		t.Fatal(err)
	}
	update(t, db, func(tx *Tx) error {
		table, err := tx.Table("t")
		if err == nil {
			_, err = table.DeleteRange(10, 30)
		}
		return err
	})
	return db
}

// checkCompactable checks that the database of compactable has what it had.
func checkCompactable(db *DB) error {
	report, err := db.Check(context.Background(), nil)
	if err == nil && !report.OK() {
		err = fmt.Errorf("check: %v", report.Problems)
	}
	if err != nil {
		return err
	}
	return db.View(context.Background(), func(rx *Rx) error {
		table, err := rx.Table("t")
		if err != nil {
			return err
		}
		rows := 0
		for _, err := range table.All() {
			if err != nil {
				return err
			}
			rows++
		}
		if rows != 19 {
			err = fmt.Errorf("%d rows", rows)
		}
		return err
	})
}

// TestCrashCompact crashes Compact, and a transaction after it, at each moment.
func TestCrashCompact(t *testing.T) {
	t.Parallel()
	for _, mode := range []JournalMode{JournalDelete, JournalTruncate, JournalPersist, JournalWAL} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			t.Parallel()
			fs := crashfs.New()
			o := Options{Create: true, PageSize: 512, JournalMode: mode, Durability: DurabilityExtra, BusyTimeout: 10 * time.Second, system: watch(t, fs, DurabilityExtra)}
			db := compactable(t, &o)
			start := fs.Count()
			if err := db.Compact(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			if err := db.Exec(t.Context(), "CREATE TABLE after(a)"); err != nil {
				t.Fatal(err)
			}
			acked, images := fs.Count(), map[uint64]bool{}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			for disk := range fs.History().Crashes() {
				if disk.At() < start {
					continue
				}
				for img := range disk.Images(crashfs.Plan{Seed: 1, Single: 3, Subsets: 4, Garbage: 1, Names: 6}) {
					if images[img.Hash()] && disk.At() < acked {
						continue
					}
					images[img.Hash()] = true
					if err := compactImage(t, img, o, disk.At() >= acked); err != nil {
						t.Fatalf("crash after operation %d with %s: %v\n%s", disk.At(), img.How, err, crashfs.Trace(fs.Ops(start)[:disk.At()-start], crashfs.Storage))
					}
				}
			}
			t.Logf("%d images", len(images))
		})
	}
}

func compactImage(t *testing.T, img *crashfs.Image, o Options, after bool) error {
	o.system = watch(t, img.FS(), o.Durability)
	db, err := Open(crashPath, &o)
	if err != nil {
		return err
	}
	err = checkCompactable(db)
	if err == nil && after {
		err = db.View(context.Background(), func(rx *Rx) error { _, err := rx.Table("after"); return err })
	}
	if err == nil && img.Hash()%8 == 0 {
		err = db.Compact(context.Background(), nil)
	}
	return errors.Join(err, db.Close())
}

// TestCompactFaults lets each operation fail in turn: then Compact fails, or nothing is lost by it.
func TestCompactFaults(t *testing.T) {
	t.Parallel()
	for _, mode := range []JournalMode{JournalDelete, JournalWAL} {
		for n, done := 1, false; !done; n++ {
			inner := crashfs.New()
			fs := faultfs.New(watchFaulty(inner, DurabilityExtra, func(err error) { t.Errorf("mode %d, operation %d: %v", mode, n, err) }))
			o := Options{Create: true, PageSize: 512, JournalMode: mode, Durability: DurabilityExtra, BusyTimeout: 10 * time.Millisecond, system: fs}
			db := compactable(t, &o)
			fs.Arm(faultfs.Fault{N: n, Err: errNoRoom, Partial: true})
			err := db.Compact(t.Context(), nil)
			hits := fs.Hits()
			fs.Arm(faultfs.Fault{})
			if done = len(hits) == 0; done && err != nil {
				t.Fatalf("mode %d: %v", mode, err)
			}
			if err := checkCompactable(db); err != nil && db.pager.Probe().Lost() == nil {
				t.Errorf("mode %d, %v fails: %v", mode, hits, err)
			}
			_ = db.Close() // may have failed by the fault
			o.system = inner
			if db, err = Open(crashPath, &o); err != nil {
				t.Errorf("mode %d, %v fails: %v", mode, hits, err)
				continue
			}
			if err := checkCompactable(db); err != nil {
				t.Errorf("mode %d, %v fails: reopened: %v", mode, hits, err)
			}
			if err := db.Close(); err != nil {
				t.Errorf("mode %d, %v fails: %v", mode, hits, err)
			}
		}
	}
}

// TestCompactDamaged leaves a database as it is that cannot be read.
func TestCompactDamaged(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(scripted(t, "PRAGMA page_size=512; CREATE TABLE t(a); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO t SELECT zeroblob(i * 3) FROM n"))
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func(m dbImage){
		"loop":   func(m dbImage) { root := m.root(t, "t"); put32(m.cell(root, 0), root) },
		"kind":   func(m dbImage) { m.page(m.leaf(m.root(t, "t")))[0] = 2 },
		"order":  func(m dbImage) { m.swap(m.leaf(m.root(t, "t"))) },
		"chain":  func(m dbImage) { _, c := m.spilled(t, m.root(t, "t")); put32(m.page(c.Overflow), 0) },
		"shared": func(m dbImage) { root := m.root(t, "t"); copy(m.cell(root, 0)[:4], m.cell(root, 1)) },
	} {
		m := append(dbImage(nil), data...)
		damage(m)
		path := m.write(t)
		db := open(t, path, nil)
		if err := db.Compact(t.Context(), nil); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
		after, err := os.ReadFile(path)
		if err != nil || string(after) != string(m) {
			t.Errorf("%s: the file has changed, %v", name, err)
		}
		if names, _ := filepath.Glob(path + "-*"); len(names) > 0 {
			t.Errorf("%s: %v", name, names)
		}
	}
}

func pageSizeOf(t *testing.T, db *DB) (n int) {
	t.Helper()
	view(t, db, func(rx *Rx) error { n = rx.Info().PageSize; return nil })
	return n
}

// A file that has the name of the copy is removed only if a Compact began it and did not finish.
func TestCompactLeavesOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		data string
		ours bool
	}{
		"empty": {"", true}, "begun": {strings.Repeat("\x00", 8192) + "content", true},
		"a text": {"a text", false}, "a database": {"SQLite format 3\x00" + strings.Repeat("x", 5000), false},
	} {
		path, db := logged(t, 5, Options{})
		writeFile(t, path+pager.CompactSuffix, []byte(c.data))
		if err := db.Compact(t.Context(), nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got, err := os.ReadFile(path + pager.CompactSuffix)
		if c.ours && !errors.Is(err, fs.ErrNotExist) || !c.ours && string(got) != c.data {
			t.Errorf("%s: %.20q, %v", name, got, err)
		}
		wantRows(t, db, 5)
	}
}
