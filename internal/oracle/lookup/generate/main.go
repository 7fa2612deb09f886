// Generate makes the database of the lookup experiments.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/foliofs/folio/internal/oracle/folder"
)

func main() {
	db := flag.String("db", "folder_paths.db", "`file` to make")
	rows := flag.Int("rows", 1_000_000, "number of rows")
	seed := flag.Uint64("seed", 1, "seed of the paths")
	flag.Parse()
	if err := folder.Write(*db, *rows, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}
