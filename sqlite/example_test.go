package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/foliofs/folio/sqlite"
	"github.com/foliofs/folio/sqlitefile"
)

// makeUsers makes a database with three users.
func makeUsers() (path string, remove func()) {
	dir, err := os.MkdirTemp("", "users")
	if err != nil {
		log.Fatal(err)
	}
	path = filepath.Join(dir, "users.db")
	err = sqlitefile.Build(context.Background(), path, nil, func(b *sqlitefile.Builder) error {
		if err := b.Create("CREATE TABLE user (id INTEGER PRIMARY KEY, name TEXT, city TEXT, joined DATE)"); err != nil {
			return err
		}
		users, err := b.Table("user")
		if err != nil {
			return err
		}
		for i, u := range [][3]any{{"ann", "Bern", "2024-02-29"}, {"bob", "Oslo", "2025-06-01"}, {"cid", "Bern", nil}} {
			if err := users.Append(int64(i+1), nil, u[0], u[1], u[2]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	return path, func() { os.RemoveAll(dir) }
}

// The package's own API: rows are values in the database, without copies.
func Example() {
	path, remove := makeUsers()
	defer remove()
	db, err := sqlite.Open(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	const query = "SELECT city, count(*), group_concat(name, ' ') FROM user GROUP BY city ORDER BY 2 DESC"
	for row, err := range db.Query(context.Background(), query) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(row.Text(0), row.Int64(1), row.Text(2))
	}
	// Output:
	// Bern 2 ann cid
	// Oslo 1 bob
}

// A transaction: all of it happens, or nothing.
func ExampleDB_Update() {
	path, remove := makeUsers()
	defer remove()
	db, err := sqlite.Open(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	ctx := context.Background()
	err = db.Update(ctx, func(tx *sqlite.Tx) error {
		r, err := tx.Exec(ctx, "INSERT INTO user (name, city) VALUES (?, ?)", "dan", "Rome")
		if err != nil {
			return err
		}
		fmt.Println("id", r.LastInsertID)
		for row, err := range tx.Query(ctx, "UPDATE user SET city = 'Basel' WHERE city = 'Bern' RETURNING name") {
			if err != nil {
				return err
			}
			fmt.Println(row.Text(0), "moves")
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	var n int64
	if _, err := db.QueryRow(ctx, []any{&n}, "SELECT count(*) FROM user WHERE city = 'Basel'"); err != nil {
		log.Fatal(err)
	}
	fmt.Println(n, "in Basel")
	// Output:
	// id 4
	// ann moves
	// cid moves
	// 2 in Basel
}

// The driver of database/sql.
func Example_driver() {
	path, remove := makeUsers()
	defer remove()
	db, err := sql.Open("folio", path)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	var name string
	var joined sql.NullTime
	if err := db.QueryRow("SELECT name, joined FROM user WHERE id = ?", 2).Scan(&name, &joined); err != nil {
		log.Fatal(err)
	}
	fmt.Println(name, joined.Time.Year())
	// Output:
	// bob 2025
}
