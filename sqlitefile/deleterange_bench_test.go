package sqlitefile

import (
	"errors"
	"path/filepath"
	"testing"
)

// BenchmarkDeleteRange deletes 1,000,000 rows: by range, and row by row, of a table without indexes
// and of one with an index over random values. Nothing is committed.
//
//	go test ./sqlitefile -run '^$' -bench DeleteRange -benchtime 3x
func BenchmarkDeleteRange(b *testing.B) {
	for _, schema := range []struct{ name, sql string }{
		{"plain", "CREATE TABLE t(id INTEGER PRIMARY KEY, k INT, v TEXT)"},
		{"indexed", "CREATE TABLE t(id INTEGER PRIMARY KEY, k INT, v TEXT); CREATE INDEX t_k ON t(k)"},
	} {
		db := rangeDB(b, schema.sql)
		for name, remove := range map[string]func(table TableWriter) error{
			"range": func(table TableWriter) error {
				_, err := table.DeleteRange(0, rangeRows)
				return err
			},
			"rows": func(table TableWriter) error {
				_, err := table.deleteRows(0, rangeRows)
				return err
			},
		} {
			b.Run(schema.name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					err := db.Update(b.Context(), func(tx *Tx) error {
						table, err := tx.Table("t")
						if err == nil {
							err = remove(table)
						}
						if err == nil {
							err = errTakenBack
						}
						return err
					})
					if !errors.Is(err, errTakenBack) {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rangeRows), "ns/row")
			})
		}
	}
}

const rangeRows = 1_000_000

// rangeDB makes a database with a table t of rows of about a hundred bytes.
func rangeDB(b *testing.B, schema string) *DB {
	b.Helper()
	db := open(b, filepath.Join(b.TempDir(), "db"), &Options{Create: true, JournalMode: JournalWAL, Durability: DurabilityOff})
	if err := db.Exec(b.Context(), schema); err != nil {
		b.Fatal(err)
	}
	update(b, db, func(tx *Tx) error {
		table, err := tx.Table("t")
		if err != nil {
			return err
		}
		for i := range int64(rangeRows) {
			k := int64(uint32(i) * 2654435761)
			if err := table.InsertRowid(i, nil, k, "a row of about a hundred bytes, as those of many tables are: a name, a number, and a few words"); err != nil {
				return err
			}
		}
		return nil
	})
	return db
}
