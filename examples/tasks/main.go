// Command tasks keeps a queue in a SQLite database, by the engine alone:
//
//	go run ./examples/tasks tasks.db 'wash the car' 'feed the cat'
//	go run ./examples/tasks tasks.db
//
// The first call adds tasks. One without tasks takes the oldest, and prints it.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/foliofs/folio/sqlitefile"
)

func main() {
	if len(os.Args) < 2 {
		log.Fatal("usage: tasks DATABASE [TASK]...")
	}
	if err := run(context.Background(), os.Args[1], os.Args[2:]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, name string, tasks []string) (err error) {
	db, err := sqlitefile.Open(name, &sqlitefile.Options{Create: true, JournalMode: sqlitefile.JournalWAL})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.Exec(ctx, "CREATE TABLE IF NOT EXISTS task (id INTEGER PRIMARY KEY, what TEXT NOT NULL)"); err != nil {
		return err
	}
	return db.Update(ctx, func(tx *sqlitefile.Tx) error { // all of them, or none
		table, err := tx.Table("task")
		if err != nil {
			return err
		}
		if len(tasks) == 0 {
			return take(table)
		}
		for _, what := range tasks {
			if _, err := table.Insert(nil, what); err != nil {
				return err
			}
		}
		return nil
	})
}

// take removes the oldest task, and prints it.
func take(table sqlitefile.TableWriter) error {
	for row, err := range table.All() {
		if err != nil {
			return err
		}
		what, err := row.Text(1)
		if err != nil {
			return err
		}
		fmt.Println(what)
		_, err = table.Delete(row.Rowid())
		return err
	}
	fmt.Println("nothing to do")
	return nil
}
