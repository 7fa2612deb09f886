package fuzzdata

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio/sqlite"
)

var queriesEvery = flag.Int("queries.every", 20, "query one image in so many")

// hostileQueries are asked of two tables or views of an image, which stand for %[1]s and %[2]s.
var hostileQueries = []string{
	"SELECT * FROM %[1]s",
	"SELECT count(*) FROM %[1]s",
	"SELECT * FROM %[1]s ORDER BY 1 DESC",
	"SELECT rowid, * FROM %[1]s ORDER BY rowid DESC",
	"SELECT DISTINCT * FROM %[1]s",
	"SELECT *, count(*), max(rowid) FROM %[1]s GROUP BY 1 HAVING count(*) > 0",
	"SELECT count(*) FROM %[1]s AS a JOIN %[2]s AS b ON a.rowid = b.rowid",
	"SELECT count(*) FROM %[1]s AS a NATURAL JOIN %[2]s AS b",
	"SELECT count(*) FROM %[1]s AS a LEFT JOIN %[2]s AS b ON a.rowid < b.rowid WHERE b.rowid IS NULL",
	"SELECT count(*) FROM %[1]s AS a FULL JOIN %[2]s AS b ON a.rowid = b.rowid + 1",
	"SELECT * FROM %[1]s WHERE rowid IN (SELECT rowid FROM %[2]s) OR rowid BETWEEN -9 AND '9'",
	"SELECT * FROM %[1]s UNION SELECT * FROM %[1]s EXCEPT SELECT * FROM %[2]s",
	"SELECT 1 FROM %[1]s UNION ALL SELECT 2 FROM %[2]s ORDER BY 1 DESC",
	"WITH RECURSIVE r(x) AS (SELECT 1 UNION SELECT t.rowid FROM %[1]s AS t JOIN r ON t.rowid >= r.x LIMIT 1000) SELECT count(*), max(x) FROM r",
	"WITH RECURSIVE r(x) AS (SELECT rowid FROM %[1]s UNION ALL SELECT x FROM r) SELECT x FROM r",
	"SELECT (SELECT count(*) FROM %[2]s AS b WHERE b.rowid <= a.rowid) FROM %[1]s AS a",
	"SELECT EXISTS (SELECT 1 FROM %[2]s WHERE rowid = a.rowid) FROM %[1]s AS a ORDER BY 1",
	"SELECT group_concat(quote(x)), min(x), sum(x) FROM (SELECT rowid AS x FROM %[1]s)",
	"SELECT min(rowid), max(rowid) FROM %[1]s WHERE rowid > 0",
	"EXPLAIN QUERY PLAN SELECT * FROM %[1]s AS a, %[2]s AS b WHERE a.rowid = b.rowid",
}

// TestQueries asks queries of images: each must end with rows or an error soon after its context,
// and no image may make the heap large.
func TestQueries(t *testing.T) {
	n, asked, failed, late := 0, 0, 0, 0
	kinds := make(map[string]int)
	path := filepath.Join(t.TempDir(), "image.db")
	var slowest time.Duration
	var largest uint64
	for img, err := range images(corpusDir(t)) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n%*queriesEvery != 0 && img.name != *only {
			continue
		}
		if err := os.WriteFile(path, img.bytes, 0o600); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		db, err := sqlite.Open(path, &sqlite.Options{SortMemory: 1 << 20})
		if err != nil {
			kinds["open: "+kindOf(err)]++
			continue
		}
		names := sourcesOf(t.Context(), db)
		for i, text := range hostileQueries {
			text = fmt.Sprintf(text, names[i%len(names)], names[(i+1)%len(names)])
			asked++
			begin := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			rows := 0
			for _, err := range db.Query(ctx, text) {
				if rows++; err != nil {
					failed++
					kinds[kindOf(err)]++
				}
				if rows > 10_000 {
					break
				}
			}
			if ctx.Err() != nil {
				late++
			}
			cancel()
			if d := time.Since(begin); d > maxSeconds*time.Second {
				t.Errorf("%s: %s takes %v", img.name, text, d)
			}
			if h := heapBytes(); h > largest {
				if largest = h; h > 2*maxBytes {
					t.Errorf("%s: %s: the heap has %d MiB", img.name, text, h>>20)
				}
			}
		}
		if err := db.Close(); err != nil {
			kinds["close: "+kindOf(err)]++
		}
		for _, side := range []string{"-wal", "-shm", "-journal"} {
			os.Remove(path + side)
		}
		slowest = max(slowest, time.Since(start))
	}
	t.Logf("%d images, %d queries, %d of them errors, %d ended by their context; the slowest image took %v, the heap had %d MiB at most",
		n / *queriesEvery, asked, failed, late, slowest.Round(time.Millisecond), largest>>20)
	for kind, n := range kinds {
		t.Logf("%6d %s", n, kind)
	}
}

// sourcesOf returns the quoted names of some tables and views, among them the schema.
func sourcesOf(ctx context.Context, db *sqlite.DB) []string {
	names := []string{"sqlite_schema"}
	for row, err := range db.Query(ctx, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') LIMIT 6") {
		if err == nil {
			names = append(names, `"`+strings.ReplaceAll(row.Text(0), `"`, `""`)+`"`)
		}
	}
	return names
}

func kindOf(err error) string {
	text, _, _ := strings.Cut(err.Error(), ":")
	return text
}

func heapBytes() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
