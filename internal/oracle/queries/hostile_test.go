package queries

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/sqlite"
)

var hostileEvery = flag.Int("queries.hostile-every", 4, "ask one query of hostile schemas in so many")

// The limits of one query of a hostile schema, which a context ends after a quarter of a second.
const (
	hostileTime  = 2 * time.Second
	hostileBytes = 256 << 20
)

// TestHostileSchemas queries databases whose schemas a hostile file forges: views that read
// themselves or double in each of many levels, expressions that overflow, nest or make long texts,
// and entries that do not belong together. Each query must end soon after its context, with rows or
// an error, and without much memory. No value has more than 2 MB here: SQLite lets one have 1 GB.
func TestHostileSchemas(t *testing.T) {
	if !judge.Available {
		t.Skip("needs cgo")
	}
	path := filepath.Join(t.TempDir(), "hostile.db")
	c, err := judge.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	deep := strings.Repeat("(", 900) + "a" + strings.Repeat(")", 900)
	long := "a" + strings.Repeat(" + a", 900)
	wide := strings.Repeat("a, ", 1999) + "a"
	schema := []string{
		"CREATE TABLE t(a, b INT)", "CREATE INDEX ta ON t(a)",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 300) INSERT INTO t SELECT CASE WHEN i % 3 THEN i ELSE 'text ' || i END, i FROM n",
		"INSERT INTO t VALUES (-9223372036854775808, 9223372036854775807), (zeroblob(1000), NULL), (1e999, -1)",
		"CREATE VIEW self AS SELECT * FROM self", "CREATE VIEW one AS SELECT * FROM two", "CREATE VIEW two AS SELECT * FROM one",
		"CREATE VIEW d0 AS SELECT a FROM t",
		"CREATE VIEW overflow AS SELECT abs(a) AS x, -a, b * b * b, b << 70, sum(b) FROM t",
		"CREATE VIEW bomb AS SELECT zeroblob(2000000) AS x",
		"CREATE VIEW bombs AS SELECT hex(zeroblob(500000)) || hex(zeroblob(500000)) AS x FROM t LIMIT 5",
		"CREATE VIEW padded AS SELECT printf('%99999d', 1) AS x, printf('%.*f', 100000, a) AS y, format('%*s', 99999, '') AS z FROM t",
		"CREATE VIEW replaced AS SELECT replace(replace(replace(hex(zeroblob(1000)), '0', hex(zeroblob(1000))), '0', hex(zeroblob(1000))), '0', 'x') AS x",
		"CREATE VIEW pattern AS SELECT hex(zeroblob(20000)) LIKE '%0%0%0%0%0%0%0%0%0%0%0%0%1' AS x, hex(zeroblob(20000)) GLOB '*0*0*0*0*0*0*0*0*0*0*0*1' AS y FROM t",
		"CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
		"CREATE VIEW growing AS WITH RECURSIVE n(i) AS (SELECT 'x' UNION ALL SELECT i || i FROM n WHERE length(i) < 1000000) SELECT i FROM n",
		"CREATE VIEW product AS SELECT count(*) AS x FROM t a, t b, t c, t d, t e",
		"CREATE VIEW deep AS SELECT " + deep + " AS x FROM t", "CREATE VIEW long AS SELECT " + long + " AS x FROM t", "CREATE VIEW wide AS SELECT " + wide + " FROM t",
		"CREATE TABLE g(a, b AS (abs(a)), c AS (zeroblob(a)), d AS (printf('%*d', a, 1)))", "INSERT INTO g(a) VALUES (1), (5)",
		"CREATE TABLE p(a)", "CREATE INDEX pa ON p(a) WHERE abs(a) > 0", "INSERT INTO p VALUES (1), (2)",
		"PRAGMA writable_schema = ON",
		"UPDATE sqlite_schema SET sql = replace(sql, 'abs(a) > 0', 'abs(-9223372036854775808) > 0') WHERE name = 'pa'",
		"CREATE TABLE twin(a, b)", "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 't') WHERE name = 'twin'",
		"CREATE TABLE schema(a, b, c, d, e)", "UPDATE sqlite_schema SET rootpage = 1 WHERE name = 'schema'",
		"CREATE TABLE other(x, y)", "CREATE INDEX ox ON other(y)", "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'ta') WHERE name = 'ox'",
		"CREATE TABLE much(x)", "UPDATE sqlite_schema SET sql = 'CREATE TABLE much(' || replace(hex(zeroblob(1000)), '00', 'x, ') || 'x)' WHERE name = 'much'",
	}
	for i := range 40 {
		schema = append(schema, fmt.Sprintf("CREATE VIEW d%d AS SELECT a.a FROM d%d AS a, d%[2]d AS b", i+1, i))
	}
	for _, s := range schema {
		if err := c.Exec(s); err != nil {
			t.Fatalf("%.200s: %v", s, err)
		}
	}
	c.Close()
	for n, source := range []string{
		"t", "self", "one", "d1", "d3", "d12", "d40", "overflow", "bomb", "bombs", "padded", "replaced", "pattern", "endless", "growing", "product",
		"deep", "long", "wide", "g", "p", "twin", "schema", "other", "much", "sqlite_schema",
	} {
		db, err := sqlite.Open(path, &sqlite.Options{SortMemory: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range []string{
			"SELECT * FROM %[1]s", "SELECT count(*) FROM %[1]s", "SELECT * FROM %[1]s ORDER BY 1 DESC", "SELECT DISTINCT * FROM %[1]s",
			"SELECT count(*), min(length(quote(rowid))) FROM %[1]s GROUP BY 1.5", "SELECT * FROM %[1]s WHERE rowid = 1 OR rowid > 5",
			"SELECT count(*) FROM %[1]s AS a, %[1]s AS b", "SELECT count(*) FROM %[1]s AS a LEFT JOIN %[1]s AS b ON a.rowid = b.rowid", "SELECT * FROM %[1]s NATURAL JOIN %[1]s AS b",
			"SELECT * FROM %[1]s UNION SELECT * FROM %[1]s", "SELECT * FROM %[1]s EXCEPT SELECT * FROM %[1]s", "SELECT 1 IN (SELECT 1 FROM %[1]s)",
			"WITH RECURSIVE r(x) AS (SELECT 1 UNION SELECT x + 1 FROM r, %[1]s) SELECT count(*) FROM r", "SELECT (SELECT count(*) FROM %[1]s) FROM %[1]s", "SELECT EXISTS (SELECT * FROM %[1]s)",
			"WITH c AS MATERIALIZED (SELECT * FROM %[1]s) SELECT count(*) FROM c AS a, c AS b", "SELECT * FROM (SELECT * FROM %[1]s ORDER BY 1) LIMIT 3 OFFSET 2",
			"EXPLAIN QUERY PLAN SELECT * FROM %[1]s", "SELECT group_concat(quote(x)) FROM (SELECT * FROM %[1]s) AS s JOIN (SELECT 1 AS x)", "SELECT * FROM t WHERE a IN (SELECT rowid FROM %[1]s) AND b > (SELECT count(*) FROM %[1]s)",
		} {
			if (n+i)%*hostileEvery == 0 {
				askHostile(t, db, fmt.Sprintf(text, source))
			}
		}
		db.Close()
	}
}

func askHostile(t *testing.T, db *sqlite.DB, text string) {
	ctx, cancel := context.WithTimeout(t.Context(), 250*time.Millisecond)
	defer cancel()
	runtime.GC()
	before, most, start, n := heapBytes(), uint64(0), time.Now(), 0
	for _, err := range db.Query(ctx, text) {
		_ = err // rows or an error, either is well
		most = max(most, heapBytes())
		if n++; n > 10_000 {
			break
		}
	}
	most = max(most, heapBytes())
	if d := time.Since(start); d > hostileTime {
		t.Errorf("%s: takes %v", text, d)
	}
	if most > before+hostileBytes {
		t.Errorf("%s: the heap grows by %d MiB", text, (most-before)>>20)
	}
}

func heapBytes() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
