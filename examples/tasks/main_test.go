package main

import (
	"context"
	"log"
	"os"
	"path/filepath"
)

func Example() {
	dir, err := os.MkdirTemp("", "tasks")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for _, tasks := range [][]string{{"one", "two"}, nil, nil, nil} {
		if err := run(context.Background(), filepath.Join(dir, "tasks.db"), tasks); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// one
	// two
	// nothing to do
}
