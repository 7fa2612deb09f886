package sqlitefile_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/foliofs/folio/sqlitefile"
)

var ctx = context.Background()

// people makes a database with a table of people, and returns what closes and removes it.
func people() (db *sqlitefile.DB, done func()) {
	dir, err := os.MkdirTemp("", "example")
	must(err)
	db, err = sqlitefile.Open(filepath.Join(dir, "app.db"), &sqlitefile.Options{Create: true})
	must(err)
	must(db.Exec(ctx, "CREATE TABLE people (id INTEGER PRIMARY KEY, city TEXT, name TEXT, born TEXT); CREATE INDEX by_city ON people (city, name)"))
	must(db.Update(ctx, func(tx *sqlitefile.Tx) error {
		t, err := tx.Table("people")
		if err != nil {
			return err
		}
		for _, p := range [][2]string{{"Bern", "Ada"}, {"Bern", "Max"}, {"Bern", "Zoe"}, {"Basel", "Kim"}, {"Chur", "Lea"}} {
			if _, err := t.Insert(nil, p[0], p[1], time.Date(1990, 5, 17, 8, 30, 0, 0, time.UTC)); err != nil {
				return err
			}
		}
		return nil
	}))
	return db, func() {
		must(db.Close())
		must(os.RemoveAll(dir))
	}
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func ExampleIndex_Range() {
	db, done := people()
	defer done()
	must(db.View(ctx, func(rx *sqlitefile.Rx) error {
		x, err := rx.IndexOn("people", "city", "name")
		if err != nil {
			return err
		}
		for row, err := range x.Range(sqlitefile.Including("Bern"), sqlitefile.Excluding("Bern", "Z")) {
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

func ExampleIndex_RangeBackward() {
	db, done := people()
	defer done()
	must(db.View(ctx, func(rx *sqlitefile.Rx) error {
		x, err := rx.IndexOn("people", "city", "name")
		if err != nil {
			return err
		}
		for row, err := range x.RangeBackward(sqlitefile.Excluding("Basel"), sqlitefile.Including("Bern")) {
			if err != nil {
				return err
			}
			name, err := row.Text(1)
			if err != nil {
				return err
			}
			fmt.Println(name)
		}
		return nil
	}))
	// Output:
	// Zoe
	// Max
	// Ada
}

func ExampleRx_IndexOn() {
	db, done := people()
	defer done()
	must(db.View(ctx, func(rx *sqlitefile.Rx) error {
		x, err := rx.IndexOn("people", "city")
		if err != nil {
			return err
		}
		rowid, ok, err := x.Find("Chur")
		fmt.Println(x.Name(), rowid, ok)
		_, missing := rx.IndexOn("people", "born")
		fmt.Println(errors.Is(missing, sqlitefile.ErrNoIndex))
		return err
	}))
	// Output:
	// by_city 5 true
	// true
}

func ExampleTable_Column() {
	db, done := people()
	defer done()
	must(db.View(ctx, func(rx *sqlitefile.Rx) error {
		t, err := rx.Table("people")
		if err != nil {
			return err
		}
		name, err := t.Column("name")
		if err != nil {
			return err
		}
		row, _, err := t.Get(4)
		if err != nil {
			return err
		}
		text, err := row.Text(name)
		fmt.Println(text)
		return err
	}))
	// Output: Kim
}

func ExampleRow_Scan() {
	db, done := people()
	defer done()
	must(db.View(ctx, func(rx *sqlitefile.Rx) error {
		t, err := rx.Table("people")
		if err != nil {
			return err
		}
		row, _, err := t.Get(1)
		if err != nil {
			return err
		}
		var id int64
		var city, name string
		var born time.Time
		if err := row.Scan(&id, &city, &name, &born); err != nil {
			return err
		}
		fmt.Println(id, city, name, born)
		err = row.Scan(nil, &id)
		fmt.Println(errors.Is(err, sqlitefile.ErrType), err)
		return nil
	}))
	// Output:
	// 1 Bern Ada 1990-05-17 08:30:00 +0000 UTC
	// true people.city: value of another type: the TEXT "Bern" into the type int64
}

func ExampleRow_Time() {
	db, done := people()
	defer done()
	must(db.View(ctx, func(rx *sqlitefile.Rx) error {
		t, err := rx.Table("people")
		if err != nil {
			return err
		}
		row, _, err := t.Get(1)
		if err != nil {
			return err
		}
		born, err := row.Time(3)
		fmt.Println(born.Format(time.RFC1123))
		return err
	}))
	// Output: Thu, 17 May 1990 08:30:00 UTC
}

func ExampleTx_SetUserVersion() {
	db, done := people()
	defer done()
	must(db.Update(ctx, func(tx *sqlitefile.Tx) error {
		if tx.UserVersion() >= 1 {
			return nil
		}
		return errors.Join(tx.Exec("CREATE TABLE pets (id INTEGER PRIMARY KEY, name)"), tx.SetUserVersion(1))
	}))
	must(db.View(ctx, func(rx *sqlitefile.Rx) error {
		fmt.Println(rx.UserVersion())
		return nil
	}))
	// Output: 1
}

func ExampleDB_BeginUpdate() {
	db, done := people()
	defer done()
	move := func(id int64, city string) error {
		tx, err := db.BeginUpdate(ctx)
		if err != nil {
			return err
		}
		defer tx.Rollback() // of no effect after Commit
		t, err := tx.Table("people")
		if err != nil {
			return err
		}
		if ok, err := t.Set(id, 1, city); err != nil || !ok {
			return errors.Join(err, fmt.Errorf("person %d moved: %v", id, ok))
		}
		return tx.Commit()
	}
	fmt.Println(move(1, "Chur"))
	fmt.Println(move(9, "Chur"))
	// Output:
	// <nil>
	// person 9 moved: false
}

func ExampleDB_Exec_alterTable() {
	db, done := people()
	defer done()
	must(db.Exec(ctx, "ALTER TABLE people ADD COLUMN country TEXT NOT NULL DEFAULT 'GB'"))
	must(db.View(ctx, func(rx *sqlitefile.Rx) error {
		t, err := rx.Table("people")
		if err != nil {
			return err
		}
		row, _, err := t.Get(1) // written before the column was added
		if err != nil {
			return err
		}
		country, err := row.Text(4)
		fmt.Println(country)
		return err
	}))
	// Output:
	// GB
}

func ExampleTx_Savepoint() {
	db, done := people()
	defer done()
	must(db.Update(ctx, func(tx *sqlitefile.Tx) error {
		if err := tx.Exec("CREATE TABLE pets (id INTEGER PRIMARY KEY, name)"); err != nil {
			return err
		}
		before, err := tx.Savepoint()
		if err != nil {
			return err
		}
		if err := tx.Exec("DROP TABLE people"); err != nil {
			return err
		}
		return before.Rollback() // people are back, and pets are still there
	}))
	must(db.View(ctx, func(rx *sqlitefile.Rx) error {
		_, err := rx.Table("people")
		fmt.Println(err)
		_, err = rx.Table("pets")
		fmt.Println(err)
		return nil
	}))
	// Output:
	// <nil>
	// <nil>
}

func ExampleDB_Batch() {
	db, done := people()
	defer done()
	var wg sync.WaitGroup
	for _, name := range []string{"Ben", "Eva", "Tom"} {
		wg.Go(func() {
			must(db.Batch(ctx, func(tx *sqlitefile.Tx) error { // may run twice, and with the others
				t, err := tx.Table("people")
				if err == nil {
					_, err = t.Insert(nil, "Genf", name, nil)
				}
				return err
			}))
		})
	}
	wg.Wait()
	must(db.View(ctx, func(rx *sqlitefile.Rx) error {
		t, err := rx.Table("people")
		if err != nil {
			return err
		}
		n := 0
		for _, err := range t.All() {
			if err != nil {
				return err
			}
			n++
		}
		fmt.Println(n, "people")
		return nil
	}))
	// Output: 8 people
}
