// Ours is a process of our engine for the tests of package walreset.
//
//	ours FILE checkpoint    copies the log back
//	ours FILE commit N      inserts N rows into table t, each in a transaction of its own
//
// The tests build it with changes in the engine. It prints "done", or the error.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/foliofs/folio/sqlitefile"
)

func main() {
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("done")
}

func run(path string, args []string) error {
	db, err := sqlitefile.Open(path, nil)
	if err != nil {
		return err
	}
	ctx := context.Background()
	if args[0] == "checkpoint" {
		return db.Checkpoint(ctx, sqlitefile.CheckpointPassive)
	}
	n, err := strconv.Atoi(args[1])
	for range n {
		if err == nil {
			err = db.Update(ctx, insert)
		}
	}
	return err
}

func insert(tx *sqlitefile.Tx) error {
	t, err := tx.Table("t")
	if err == nil {
		_, err = t.Insert(nil, strings.Repeat("x", 3000))
	}
	return err
}
