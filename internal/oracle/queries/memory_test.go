package queries

import (
	"context"
	"database/sql/driver"
	"flag"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/sqlite"
)

var (
	sortRows   = flag.Int("queries.sort-rows", 100_000, "rows that TestMemory sorts and groups")
	sortMemory = flag.Int("queries.sort-memory", 1<<20, "bytes of memory for them")
)

// TestMemory sorts, groups and compares more rows than there is memory for. The answers must be
// right, and the heap must not grow by much more than the limit.
func TestMemory(t *testing.T) {
	if !judge.Available {
		t.Skip("needs cgo")
	}
	path := filepath.Join(t.TempDir(), "rows.db")
	c, err := judge.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{
		"PRAGMA synchronous=OFF", "PRAGMA journal_mode=OFF",
		"CREATE TABLE t (a INT, name TEXT)",
		fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT %d) INSERT INTO t SELECT i * 7919 %% 1000003, 'name ' || (i * 31 %% 1000003) FROM n", *sortRows),
	} {
		if err := c.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	db, err := sqlite.Open(path, &sqlite.Options{SortMemory: *sortMemory})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, sql := range []string{
		"SELECT a, name FROM t ORDER BY a DESC, name",
		"SELECT a, count(*), min(name) FROM t GROUP BY a",
		"SELECT name || a, sum(a) FROM t GROUP BY name || a",
		"SELECT DISTINCT name || a, a FROM t",
		"SELECT count(DISTINCT a), count(DISTINCT name || a), group_concat(DISTINCT a % 5) FROM t",
		"SELECT a % 3, count(DISTINCT a), sum(DISTINCT length(name)) FROM t GROUP BY a % 3",
		"SELECT name || a FROM t UNION SELECT a FROM t",
		"SELECT a, name FROM t EXCEPT SELECT a, name FROM t WHERE a % 7",
		"SELECT a FROM t INTERSECT SELECT a + 1 FROM t",
	} {
		var want []string
		if *sortRows <= 1_000_000 {
			for row, err := range c.Rows(context.Background(), sql) {
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, joined(row))
			}
		}
		runtime.GC()
		var before, now runtime.MemStats
		runtime.ReadMemStats(&before)
		start, n, most := time.Now(), 0, uint64(0)
		for row, err := range db.Query(context.Background(), sql) {
			if err != nil {
				t.Fatal(err)
			}
			if n%(*sortRows/16+1) == 0 {
				runtime.ReadMemStats(&now)
				most = max(most, now.HeapInuse)
			}
			if want != nil {
				values := make([]driver.Value, row.Len())
				for i := range values {
					values[i] = row.Value(i).Any()
				}
				if got := joined(values); n >= len(want) || got != want[n] {
					t.Fatalf("%s: row %d is %s", sql, n, got)
				}
			}
			n++
		}
		if want != nil && n != len(want) {
			t.Errorf("%s: %d rows, want %d", sql, n, len(want))
		}
		grown := (int64(most) - int64(before.HeapInuse)) >> 20
		t.Logf("%s: %d rows in %v, heap + %d MiB", sql, n, time.Since(start).Round(time.Millisecond), grown)
		if limit := int64(3**sortMemory)>>20 + 16; grown > limit {
			t.Errorf("%s: the heap grew by %d MiB, more than %d", sql, grown, limit)
		}
	}
	c.Close()
}

func joined(row []driver.Value) string {
	text := ""
	for _, v := range row {
		text += shown(v) + "|"
	}
	return text
}
