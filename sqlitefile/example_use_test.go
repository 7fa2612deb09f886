package sqlitefile_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/foliofs/folio/sqlitefile"
)

// A database is made, written in one transaction, and read in another.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	must(err)
	defer os.RemoveAll(dir)
	db, err := sqlitefile.Open(filepath.Join(dir, "app.db"), &sqlitefile.Options{Create: true})
	must(err)
	defer db.Close()

	must(db.Update(ctx, func(tx *sqlitefile.Tx) error {
		if err := tx.Exec("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT)"); err != nil {
			return err
		}
		users, err := tx.Table("users")
		if err != nil {
			return err
		}
		for _, name := range []string{"Ada", "Max"} {
			if _, err := users.Insert(nil, name); err != nil { // nil: the next rowid
				return err
			}
		}
		return nil
	}))
	must(db.View(ctx, func(rx *sqlitefile.Rx) error {
		users, err := rx.Table("users")
		if err != nil {
			return err
		}
		for row, err := range users.All() {
			if err != nil {
				return err
			}
			name, err := row.Text(1)
			if err != nil {
				return err
			}
			fmt.Println(row.Rowid(), name)
		}
		return nil
	}))
	// Output:
	// 1 Ada
	// 2 Max
}

func ExampleTable_Get() {
	db, done := people()
	defer done()
	must(db.View(ctx, func(rx *sqlitefile.Rx) error {
		t, err := rx.Table("people")
		if err != nil {
			return err
		}
		for _, id := range []int64{4, 40} {
			row, ok, err := t.Get(id)
			if err != nil {
				return err
			}
			if !ok {
				fmt.Println("no row", id)
				continue
			}
			name, err := row.Text(2)
			fmt.Println(name, err)
		}
		return nil
	}))
	// Output:
	// Kim <nil>
	// no row 40
}

// Range visits the rows with rowids from 2 to 4.
func ExampleTable_Range() {
	db, done := people()
	defer done()
	must(db.View(ctx, func(rx *sqlitefile.Rx) error {
		t, err := rx.Table("people")
		if err != nil {
			return err
		}
		for row, err := range t.Range(2, 4) {
			if err != nil {
				return err
			}
			name, err := row.Text(2)
			fmt.Println(name, err)
		}
		return nil
	}))
	// Output:
	// Max <nil>
	// Zoe <nil>
	// Kim <nil>
}

// Find looks for the entry with a key, and returns the rowid of its row.
func ExampleIndex_Find() {
	db, done := people()
	defer done()
	must(db.View(ctx, func(rx *sqlitefile.Rx) error {
		byCity, err := rx.Index("by_city")
		if err != nil {
			return err
		}
		rowid, ok, err := byCity.Find("Bern", "Zoe")
		fmt.Println(rowid, ok, err)
		_, ok, err = byCity.Find("Genf", "Zoe")
		fmt.Println(ok, err)
		return nil
	}))
	// Output:
	// 3 true <nil>
	// false <nil>
}

// A cursor goes in both directions, from any place.
func ExampleTable_Cursor() {
	db, done := people()
	defer done()
	must(db.View(ctx, func(rx *sqlitefile.Rx) error {
		t, err := rx.Table("people")
		if err != nil {
			return err
		}
		c := t.Cursor()
		for ok, err := c.SeekRowid(3); ok || err != nil; ok, err = c.Prev() {
			if err != nil {
				return err
			}
			row, err := c.Row()
			if err != nil {
				return err
			}
			name, err := row.Text(2)
			fmt.Println(row.Rowid(), name, err)
		}
		return nil
	}))
	// Output:
	// 3 Zoe <nil>
	// 2 Max <nil>
	// 1 Ada <nil>
}

// Update replaces a row, Set one column, Delete removes a row. Each reports whether there was one.
func ExampleTableWriter_Update() {
	db, done := people()
	defer done()
	must(db.Update(ctx, func(tx *sqlitefile.Tx) error {
		t, err := tx.Table("people")
		if err != nil {
			return err
		}
		fmt.Println(t.Update(1, nil, "Chur", "Ada", "1990-05-17"))
		fmt.Println(t.Set(2, 1, "Basel"))
		fmt.Println(t.Delete(5))
		fmt.Println(t.Delete(50))
		return nil
	}))
	// Output:
	// true <nil>
	// true <nil>
	// true <nil>
	// false <nil>
}

func ExampleTableWriter_DeleteRange() {
	db, done := people()
	defer done()
	must(db.Update(ctx, func(tx *sqlitefile.Tx) error {
		t, err := tx.Table("people")
		if err != nil {
			return err
		}
		fmt.Println(t.DeleteRange(2, 4))
		return nil
	}))
	// Output: 3 <nil>
}

// A constraint fails the call. The transaction goes on if the function does not return the error.
func ExampleConstraintError() {
	db, done := people()
	defer done()
	err := db.Exec(ctx, "CREATE UNIQUE INDEX by_name ON people (name)")
	must(err)
	must(db.Update(ctx, func(tx *sqlitefile.Tx) error {
		t, err := tx.Table("people")
		if err != nil {
			return err
		}
		_, err = t.Insert(nil, "Chur", "Ada", nil)
		fmt.Println(errors.Is(err, sqlitefile.ErrConstraint))
		return nil
	}))
	// Output: true
}

// A backup is a database like this one, at one moment. Readers and writers go on meanwhile.
func ExampleDB_Backup() {
	db, done := people()
	defer done()
	var file bytes.Buffer
	must(db.Backup(ctx, &file))
	backup, err := sqlitefile.OpenReaderAt(bytes.NewReader(file.Bytes()), int64(file.Len()), nil)
	must(err)
	defer backup.Close()
	must(backup.View(ctx, func(rx *sqlitefile.Rx) error {
		t, err := rx.Table("people")
		if err != nil {
			return err
		}
		_, ok, err := t.Get(5)
		fmt.Println(ok, err)
		return nil
	}))
	// Output: true <nil>
}

// Check does what PRAGMA integrity_check does.
func ExampleDB_Check() {
	db, done := people()
	defer done()
	report, err := db.Check(ctx, nil)
	must(err)
	for _, p := range report.Problems {
		fmt.Println(p)
	}
	fmt.Println(report.OK(), report.Rows, "rows,", report.Entries, "entries")
	// Output: true 5 rows, 5 entries
}

// Compact does what VACUUM does: it gives free pages back to the system.
func ExampleDB_Compact() {
	db, done := people()
	defer done()
	must(db.Exec(ctx, "CREATE TABLE large (id INTEGER PRIMARY KEY, data BLOB)"))
	must(db.Update(ctx, func(tx *sqlitefile.Tx) error {
		t, err := tx.Table("large")
		if err != nil {
			return err
		}
		_, err = t.Insert(nil, make([]byte, 1<<20))
		return err
	}))
	must(db.Exec(ctx, "DROP TABLE large"))
	fmt.Println(db.Stats().FreePages > 200)
	must(db.Compact(ctx, nil))
	must(db.View(ctx, func(*sqlitefile.Rx) error { return nil })) // Stats tells what this DB saw last
	fmt.Println(db.Stats().FreePages)
	// Output:
	// true
	// 0
}

// A database that nothing changes, such as one in an image of a container, is read without locks.
func ExampleOpen_immutable() {
	db, done := people()
	defer done()
	must(db.SetJournalMode(ctx, sqlitefile.JournalDelete)) // no log that would have to be read as well
	fixed, err := sqlitefile.Open(db.Path(), &sqlitefile.Options{Immutable: true})
	must(err)
	defer fixed.Close()
	err = fixed.Exec(ctx, "DROP TABLE people")
	fmt.Println(errors.Is(err, sqlitefile.ErrReadOnly))
	// Output: true
}
