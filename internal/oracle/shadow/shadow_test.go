package shadow

import (
	"database/sql"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/sqlite/shadow"
)

var (
	statements = flag.Int64("shadow.statements", 2000, "SELECTs of TestLive")
	seed       = flag.Uint64("shadow.seed", 1, "of TestLive")
)

type counter interface {
	Counts() (equal, different, skipped int64)
}

func TestMain(m *testing.M) {
	if path := os.Getenv("SHADOW_WRITER"); path != "" {
		n, _ := strconv.ParseUint(os.Getenv("SHADOW_SEED"), 10, 64)
		write(path, n)
	}
	os.Exit(m.Run())
}

const schema = `CREATE TABLE t (id INTEGER PRIMARY KEY, a INT, b TEXT COLLATE NOCASE, c); CREATE INDEX ta ON t (a); CREATE TABLE k (x TEXT PRIMARY KEY, y) WITHOUT ROWID;
	CREATE VIEW v AS SELECT a, count(*) AS n, max(b) AS m FROM t GROUP BY a;
	WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 200) INSERT INTO t SELECT i, i % 17, 'b' || (i % 5), i * 1.5 FROM n;
	INSERT INTO k SELECT 'k' || id, a FROM t`

func database(t *testing.T) (path string, c *sql.DB) {
	path = filepath.Join(t.TempDir(), "shadow.db")
	c, err := sql.Open("sqlite3", path+"?_journal=wal&_sync=0")
	must.Do(t, err)
	t.Cleanup(func() { c.Close() })
	_, err = c.Exec(schema)
	must.Do(t, err)
	return path, c
}

// TestDifference wants a difference to be reported with both answers, and none of equal answers.
func TestDifference(t *testing.T) {
	path, _ := database(t)
	var found []*shadow.Difference
	connector, err := shadow.Open(path, "sqlite3", func(d *shadow.Difference) { found = append(found, d) })
	must.Do(t, err)
	db := sql.OpenDB(connector)
	defer db.Close()
	n := 0
	must.Do(t, db.QueryRow("SELECT count(*) FROM t WHERE a = ?", 5).Scan(&n))
	must.Do(t, db.QueryRow("SELECT id FROM t WHERE a > :a ORDER BY id", sql.Named("a", 3)).Scan(&n))
	if _, err := db.Query("SELECT missing FROM t"); err == nil {
		t.Error("no error of a column that does not exist")
	}
	s, err := db.Prepare("SELECT max(id) FROM t WHERE b = ?")
	must.Do(t, err)
	must.Do(t, s.QueryRow("B1").Scan(&n))
	must.Do(t, s.Close())
	if equal, different, skipped := connector.(counter).Counts(); equal != 4 || different+skipped != 0 || len(found) > 0 {
		t.Fatalf("%d equal, %d different, %d skipped: %v", equal, different, skipped, found)
	}
	// A collation that nothing uses is an error of package sqlite alone.
	if _, err := db.Query("SELECT 1 COLLATE missing"); err == nil {
		t.Error("no error of a collation that does not exist")
	}
	if len(found) != 1 || found[0].Ours != "no such collation sequence: missing" || found[0].Theirs != "1 rows: [[1]]" {
		t.Errorf("differences %+v", found)
	}
}

// TestByName opens the driver by its name.
func TestByName(t *testing.T) {
	path, _ := database(t)
	db, err := sql.Open("folio-shadow", path+"?shadow=sqlite3&_busy_timeout=1000")
	must.Do(t, err)
	defer db.Close()
	n := 0
	if must.Do(t, db.QueryRow("SELECT count(*) FROM t").Scan(&n)); n != 200 {
		t.Errorf("%d rows", n)
	}
	if _, err := sql.Open("folio-shadow", path); err == nil {
		t.Error("no error without the name of a driver")
	}
	if _, err := sql.Open("folio-shadow", path+"?shadow=nothing"); err == nil {
		t.Error("no error of a driver that is not registered")
	}
}

// TestLive asks random SELECTs in shadow mode, while processes write to the file by C SQLite, are
// killed, VACUUM and change the schema.
func TestLive(t *testing.T) {
	path, _ := database(t)
	var different atomic.Int64
	connector, err := shadow.Open(path+"?_busy_timeout=10000", "sqlite3", func(d *shadow.Difference) {
		if different.Add(1) < 10 {
			t.Errorf("%s\n  ours: %s\n  C:    %s", d.Query, d.Ours, d.Theirs)
		}
	})
	must.Do(t, err)
	db := sql.OpenDB(connector)
	defer db.Close()
	stop := make(chan struct{})
	var writers, readers sync.WaitGroup
	kills := 0
	writers.Go(func() {
		r := rand.New(rand.NewPCG(*seed, 1))
		for {
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), "SHADOW_WRITER="+path, fmt.Sprintf("SHADOW_SEED=%d", r.Uint64()))
			if err := c.Start(); err != nil {
				t.Error(err)
				return
			}
			select {
			case <-stop:
			case <-time.After(time.Duration(50+r.IntN(400)) * time.Millisecond):
			}
			kills++
			_ = c.Process.Kill()
			_ = c.Wait()
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	var asked atomic.Int64
	for i := range 3 {
		readers.Go(func() {
			r := rand.New(rand.NewPCG(*seed, uint64(2+i)))
			for asked.Add(1) <= *statements {
				ask(db, r)
			}
		})
	}
	readers.Wait()
	close(stop)
	writers.Wait()
	equal, not, skipped := connector.(counter).Counts()
	t.Logf("%d answers equal, %d different, %d not compared; %d kills of a writer", equal, not, skipped, kills)
	if equal < *statements/2 {
		t.Errorf("only %d of %d queries were compared", equal, *statements)
	}
}

var selects = []string{
	"SELECT * FROM t WHERE id = ?", "SELECT * FROM t WHERE a = ?", "SELECT count(*), sum(a), min(b), max(c) FROM t WHERE id > ?", "SELECT a, count(*) FROM t GROUP BY a HAVING count(*) > ?",
	"SELECT id, b FROM t WHERE b = 'B' || ? ORDER BY id DESC LIMIT 7", "SELECT * FROM k WHERE x > 'k' || ?", "SELECT t.id, k.y FROM t LEFT JOIN k ON k.x = 'k' || t.id WHERE t.a = ?",
	"SELECT * FROM v WHERE a < ?", "SELECT DISTINCT b FROM t WHERE a <> ?", "SELECT * FROM t WHERE a IN (?, 3, 5) OR id = 9", "SELECT a FROM t WHERE id < ? UNION SELECT y FROM k",
	"SELECT name, type, sql FROM sqlite_schema WHERE rootpage > ?", "SELECT (SELECT count(*) FROM k WHERE k.y = t.a) FROM t WHERE id % 20 = ?",
	"WITH RECURSIVE n(i) AS (SELECT ? UNION ALL SELECT i + 1 FROM n WHERE i < 30) SELECT i, (SELECT b FROM t WHERE id = i) FROM n", "SELECT * FROM extra WHERE z > ?",
	"SELECT * FROM t JOIN t AS u USING (a) WHERE t.id < ? AND u.id < 20", "SELECT max(id) FROM t WHERE ? > 0",
}

func ask(db *sql.DB, r *rand.Rand) {
	rows, err := db.Query(selects[r.IntN(len(selects))], r.IntN(25))
	if err != nil {
		return // compared, too
	}
	for rows.Next() {
	}
	rows.Close()
}

// write changes the database until the process is killed.
func write(path string, seed uint64) {
	db, err := sql.Open("sqlite3", path+"?_busy_timeout=2000&_sync=0")
	if err != nil {
		os.Exit(1)
	}
	db.SetMaxOpenConns(1)
	r := rand.New(rand.NewPCG(seed, 3))
	for {
		n := r.IntN(300)
		text := []string{
			fmt.Sprintf("INSERT OR REPLACE INTO t (id, a, b, c) VALUES (%d, %d, 'b%d', %d.5)", n, n%17, n%5, n),
			fmt.Sprintf("UPDATE t SET a = a + 1, c = x'%02x' WHERE id %% 10 = %d", n%256, n%10), fmt.Sprintf("DELETE FROM t WHERE id = %d", n),
			fmt.Sprintf("INSERT OR REPLACE INTO k VALUES ('k%d', %d)", n, n%9), fmt.Sprintf("DELETE FROM k WHERE y = %d", n%40),
			fmt.Sprintf("BEGIN; UPDATE t SET b = b || 'x' WHERE id < %d; DELETE FROM k WHERE x > 'k9'; ROLLBACK", n),
		}[r.IntN(6)]
		switch r.IntN(60) {
		case 0:
			text = "VACUUM"
		case 1:
			text = "CREATE TABLE IF NOT EXISTS extra (z INT, w TEXT); INSERT INTO extra VALUES (1, 'one'), (20, 'two')"
		case 2:
			text = "DROP TABLE IF EXISTS extra"
		case 3:
			text = "CREATE INDEX IF NOT EXISTS tb ON t (b, a DESC)"
		case 4:
			text = "DROP INDEX IF EXISTS tb"
		case 5:
			text = "DROP VIEW v; CREATE VIEW v AS SELECT a, sum(id) AS n, min(b) AS m FROM t GROUP BY a"
		case 6:
			text = "PRAGMA wal_checkpoint(TRUNCATE)"
		case 7:
			text = "ALTER TABLE k RENAME COLUMN y TO yy; ALTER TABLE k RENAME COLUMN yy TO y"
		case 8:
			text = "ANALYZE"
		}
		if _, err := db.Exec(text); err != nil && !strings.Contains(err.Error(), "locked") && !strings.Contains(err.Error(), "no such") {
			fmt.Fprintln(os.Stderr, text, err)
		}
	}
}
