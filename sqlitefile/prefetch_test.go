package sqlitefile

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio/internal/race"
)

// Every key is found, and every key that is not there is not, where keys share long prefixes: eight
// bytes behind the prefix of a page, 16 bytes, and more.
func TestFindLongPrefixes(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	t.Parallel()
	for _, form := range []string{"%d", "/data/%03d/folder%d", "/data/0123456/%d/x%d", "%030d/%d"} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			rows := inShort(3000, 20000)
			db := scattered(t, form, rows)
			err := db.View(context.Background(), func(rx *Rx) error {
				x, err := rx.Index("by_path")
				if err != nil {
					return err
				}
				for i := range rows {
					path := scatteredPath(form, i)
					id, ok, err := x.Find(path)
					if err != nil || !ok || id != int64(i+1) {
						return fmt.Errorf("%q: row %d, %v, want %d: %w", path, id, ok, i+1, err)
					}
					for _, other := range []string{path + "\x00", path + "!", path[:len(path)-1] + "/"} {
						if _, ok, err := x.Find(other); ok || err != nil {
							return fmt.Errorf("%q: found %v, %w", other, ok, err)
						}
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// scatteredPath is the key of a row: neighbours among the keys are far from each other among the
// rows.
func scatteredPath(form string, i int) string {
	if form == "%d" {
		return fmt.Sprintf(form, i)
	}
	return fmt.Sprintf(form, i%100, i)
}

func scattered(t *testing.T, form string, rows int) *DB {
	t.Helper()
	db, err := Open(filepath.Join(t.TempDir(), "scattered.db"), &Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	ctx := context.Background()
	for _, sql := range []string{"CREATE TABLE paths (id INTEGER PRIMARY KEY, path TEXT)", "CREATE INDEX by_path ON paths (path)"} {
		if err := db.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	err = db.Update(ctx, func(tx *Tx) error {
		table, err := tx.Table("paths")
		for i := 0; i < rows && err == nil; i++ {
			_, err = table.Insert(int64(i+1), scatteredPath(form, i))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return db
}
