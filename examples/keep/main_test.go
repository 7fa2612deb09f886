package main

import (
	"context"
	"log"
	"os"
	"path/filepath"
	"time"
)

func Example() {
	dir, err := os.MkdirTemp("", "keep")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	tree := filepath.Join(dir, "tree")
	if err := os.Mkdir(tree, 0o700); err != nil {
		log.Fatal(err)
	}
	for n, text := range []string{"one", "two"} {
		if err := os.WriteFile(filepath.Join(tree, "file"), []byte(text), 0o600); err != nil {
			log.Fatal(err)
		}
		if err := keep(context.Background(), tree, filepath.Join(dir, "kept.folio"), time.Unix(int64(n), 0)); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// 19700101T000000.000
	// 19700101T000000.000
	// 19700101T000001.000
}
