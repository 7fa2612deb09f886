package aferofs_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/adapter/aferofs"
)

// saveReport stands for a program that knows nothing of Folio.
func saveReport(files afero.Fs, name string) error {
	if err := files.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return afero.WriteFile(files, name, []byte("all is well\n"), 0o644)
}

func Example() {
	dir, err := os.MkdirTemp("", "folio")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	vol, err := folio.Open(filepath.Join(dir, "data.folio"), &folio.Options{Create: true})
	if err != nil {
		log.Fatal(err)
	}
	defer vol.Close()

	files := aferofs.New(vol)
	if err := saveReport(files, "/reports/2026/november.txt"); err != nil {
		log.Fatal(err)
	}
	fmt.Println(afero.Exists(files, "/reports/2026/november.txt"))

	// In a transaction, the several calls of the program are one change, or none.
	err = vol.Update(context.Background(), func(tx *folio.Tx) error {
		if err := saveReport(aferofs.New(tx), "/reports/2026/december.txt"); err != nil {
			return err
		}
		return context.Canceled // on second thoughts
	})
	fmt.Println(err)
	fmt.Println(afero.Exists(files, "/reports/2026/december.txt"))
	// Output:
	// true <nil>
	// context canceled
	// false <nil>
}
