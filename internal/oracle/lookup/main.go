// Lookup measures point lookups, side by side: the engine and the fastest Go drivers of SQLite, each a program of its own
// on the same file, each read a transaction of its own, every answer checked.
//
//	go -C internal/oracle run ./lookup
//
// It builds the contenders and makes the database in the user's cache directory, once. The contenders take turns, a fresh
// process for each sample. What it prints are medians, and the ratio of ours to the fastest driver.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"

	"github.com/foliofs/folio/internal/oracle/folder"
)

// ours is the contender that the others are compared with.
const ours = "folio"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "lookup:", err)
		os.Exit(1)
	}
}

// settings are the flags.
type settings struct {
	rows, reads, samples int
	seed                 uint64
	mmap                 bool
	dir                  string
}

func run() error {
	var s settings
	flag.IntVar(&s.rows, "rows", 1_000_000, "rows in the database")
	flag.IntVar(&s.reads, "reads", 200_000, "reads in a sample")
	flag.IntVar(&s.samples, "samples", 10, "samples of each figure")
	flag.Uint64Var(&s.seed, "seed", 1, "seed of the paths")
	flag.BoolVar(&s.mmap, "mmap", false, "let each driver run a second time with PRAGMA mmap_size of 1 GiB")
	flag.StringVar(&s.dir, "dir", "lookup/contender", "`directory` of the contenders")
	flag.Parse()

	contenders, err := build(s)
	if err != nil {
		return err
	}
	db, err := folder.Cached(s.rows, s.seed)
	if err != nil {
		return fmt.Errorf("making the database needs C SQLite: %w", err)
	}
	fmt.Printf("%d rows, %d reads a sample, %d samples, %d cores, %s\n", s.rows, s.reads, s.samples, runtime.NumCPU(), runtime.Version())
	t, err := sample(s, db, contenders)
	if err != nil {
		return err
	}
	t.print(os.Stdout)
	return nil
}
