package sqlitefile_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/foliofs/folio/sqlitefile"
)

// Users and their orders, with a foreign key, a CHECK, a partial index and a generated column.
func Example_schema() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := sqlitefile.Open(filepath.Join(dir, "shop.db"), &sqlitefile.Options{Create: true, ForeignKeys: true})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	err = db.Exec(ctx, `
		CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT NOT NULL CHECK (email LIKE '%_@_%'), active INTEGER NOT NULL DEFAULT 1);
		CREATE UNIQUE INDEX active_email ON users (lower(email)) WHERE active;
		CREATE TABLE orders (
			id INTEGER PRIMARY KEY,
			user INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
			cents INTEGER NOT NULL CHECK (cents > 0),
			euros REAL AS (cents / 100.0) VIRTUAL
		)`)
	if err != nil {
		log.Fatal(err)
	}
	err = db.Update(ctx, func(tx *sqlitefile.Tx) error {
		users, err := tx.Table("users")
		if err != nil {
			return err
		}
		orders, err := tx.Table("orders")
		if err != nil {
			return err
		}
		ann, err := users.Insert(nil, "ann@example.com", 1)
		if err != nil {
			return err
		}
		if _, err := orders.Insert(nil, ann, 1250, nil); err != nil { // nil: computed
			return err
		}
		_, err = users.Insert(nil, "ANN@example.com", 1)
		fmt.Println(err)
		_, err = orders.Insert(nil, ann, 0, nil)
		fmt.Println(err)
		_, err = orders.Insert(nil, 99, 100, nil)
		fmt.Println(err)
		row, _, err := orders.Get(1)
		if err != nil {
			return err
		}
		euros, err := row.Float64(3)
		fmt.Println(euros, err)
		_, err = users.Delete(ann)
		if err != nil {
			return err
		}
		_, ok, err := orders.LastRowid()
		fmt.Println(ok, err)
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// UNIQUE constraint failed: index 'active_email'
	// CHECK constraint failed: cents > 0
	// FOREIGN KEY constraint failed: orders to users
	// 12.5 <nil>
	// false <nil>
}
