package sqlite_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/foliofs/folio/sqlite"
	"github.com/foliofs/folio/sqlitefile"
)

var images = flag.Int("damaged.images", 200, "damaged databases to query")

// TestDamaged queries databases with damaged bytes: each query must end with rows or an error.
func TestDamaged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "whole.db")
	err := sqlitefile.Build(t.Context(), path, &sqlitefile.BuildOptions{PageSize: 512}, func(b *sqlitefile.Builder) error {
		for _, sql := range []string{
			"CREATE TABLE t (id INTEGER PRIMARY KEY, a, b TEXT COLLATE NOCASE)",
			"CREATE INDEX t_a ON t (a)", "CREATE INDEX t_b ON t (b, a DESC)",
			"CREATE TABLE w (k TEXT PRIMARY KEY, v) WITHOUT ROWID",
			"CREATE VIEW v AS SELECT a, count(*) AS n FROM t GROUP BY a",
		} {
			if err := b.Create(sql); err != nil {
				return err
			}
		}
		rows, err := b.Table("t")
		if err != nil {
			return err
		}
		for i := range 150 {
			if err := rows.Append(int64(i), nil, i%17, fmt.Sprintf("%0*d", i%40*9, i)); err != nil {
				return err
			}
		}
		keys, err := b.Table("w")
		if err != nil {
			return err
		}
		for i := range 60 {
			if err := keys.AppendKey(fmt.Sprintf("%04d", i), i); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	failed := 0
	for n := range *images {
		image := append([]byte(nil), whole...)
		for range 1 + r.IntN(12) {
			image[100*r.IntN(2)+r.IntN(len(image)-100)] = byte(r.Uint32())
		}
		path := filepath.Join(dir, "damaged.db")
		if err := os.WriteFile(path, image, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := sqlite.Open(path, nil)
		if err != nil {
			continue
		}
		for _, query := range []string{
			"SELECT * FROM t ORDER BY a DESC, id", "SELECT count(*), sum(length(b)), max(a) FROM t", "SELECT * FROM t WHERE a = 5 AND b > '0'",
			"SELECT x.b FROM t x JOIN t y ON y.b = x.b WHERE y.id IN (1, 50, 99)", "SELECT * FROM w WHERE k > '0010'", "SELECT * FROM v ORDER BY 2",
			"SELECT * FROM sqlite_schema", "SELECT b FROM t WHERE b BETWEEN '1' AND '5' ORDER BY b DESC, a", "SELECT count(*) FROM t", "SELECT min(a) FROM t",
		} {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			for _, err := range db.Query(ctx, query) {
				if err != nil {
					failed++
				}
			}
			if ctx.Err() != nil {
				t.Errorf("image %d: %s takes too long", n, query)
			}
			cancel()
		}
		db.Close()
	}
	t.Logf("%d images, %d queries with errors", *images, failed)
}
