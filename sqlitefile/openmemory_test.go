package sqlitefile_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/foliofs/folio/sqlitefile"
)

// TestOpenMemory writes to databases in memory in each journal mode, with changes that are rolled
// back, and copies them.
func TestOpenMemory(t *testing.T) {
	t.Parallel()
	for _, mode := range []sqlitefile.JournalMode{
		sqlitefile.JournalDelete, sqlitefile.JournalTruncate, sqlitefile.JournalPersist, sqlitefile.JournalWAL,
	} {
		db, err := sqlitefile.OpenMemory(&sqlitefile.Options{JournalMode: mode, PageSize: 1024, ReadOnly: true, Immutable: true})
		if err != nil {
			t.Fatal(err)
		}
		insert := func(n int, last error) error {
			return db.Update(t.Context(), func(tx *sqlitefile.Tx) error {
				table, err := tx.Table("t")
				for i := 0; i < n && err == nil; i++ {
					_, err = table.Insert(nil, fmt.Sprintf("%0500d", i))
				}
				if err == nil {
					err = last
				}
				return err
			})
		}
		steps := []error{
			db.Update(t.Context(), func(tx *sqlitefile.Tx) error { return tx.Exec("CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT)") }),
			insert(1000, nil),
			db.Compact(t.Context(), nil),
			db.SetJournalMode(t.Context(), sqlitefile.JournalDelete), db.SetJournalMode(t.Context(), sqlitefile.JournalWAL),
			insert(1000, nil),
		}
		for i, err := range steps {
			if err != nil {
				t.Errorf("%v, step %d: %v", mode, i, err)
			}
		}
		if err := insert(5000, context.Canceled); err != context.Canceled {
			t.Error(err)
		}
		rows := 0
		err = db.View(t.Context(), func(rx *sqlitefile.Rx) error {
			table, err := rx.Table("t")
			if err != nil {
				return err
			}
			for _, err := range table.Range(0, 1<<40) {
				if err != nil {
					return err
				}
				rows++
			}
			report, err := rx.Check(t.Context(), nil)
			if err == nil && !report.OK() {
				t.Errorf("%v: %v", mode, report.Problems)
			}
			return err
		})
		if rows != 2000 || err != nil || db.Close() != nil {
			t.Errorf("%v: %d rows, %v", mode, rows, err)
		}
	}
}

// ExampleOpenMemory keeps a table in memory.
func ExampleOpenMemory() {
	db, err := sqlitefile.OpenMemory(nil)
	if err != nil {
		panic(err)
	}
	defer db.Close()
	err = db.Update(context.Background(), func(tx *sqlitefile.Tx) error {
		if err := tx.Exec("CREATE TABLE word(id INTEGER PRIMARY KEY, text TEXT)"); err != nil {
			return err
		}
		words, err := tx.Table("word")
		if err == nil {
			_, err = words.Insert(nil, "hello")
		}
		return err
	})
	fmt.Println(err)
	// Output: <nil>
}
