// Package embed_test shows how a program carries a volume inside of itself.
package embed_test

import (
	_ "embed"
	"fmt"
	"html/template"
	"log"
	"os"
	"path/filepath"

	"github.com/foliofs/folio"
)

// The volume, made of the directory site, becomes a part of the program.
//
//go:generate go -C ../../cmd/folio run . import --force $PWD/site $PWD/site.folio
//go:embed site.folio
var site []byte

// Example opens an embedded volume. What opens a volume locks its file and maps it into memory, so
// it must be one of the operating system: the program writes it to a temporary directory first,
// which takes about as long as reading it would. For a handful of small files embed.FS is simpler;
// a volume is for many files, for symbolic links and times, and for what should change as one.
func Example() {
	dir, err := os.MkdirTemp("", "embed")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "site.folio")
	if err := os.WriteFile(path, site, 0o400); err != nil {
		log.Fatal(err)
	}
	vol, err := folio.Open(path, &folio.Options{ReadOnly: true})
	if err != nil {
		log.Fatal(err)
	}
	defer vol.Close()

	page, err := template.ParseFS(vol.FS(), "*.html")
	if err != nil {
		log.Fatal(err)
	}
	if err := page.Execute(os.Stdout, "Folio & friends"); err != nil {
		log.Fatal(err)
	}
	style, err := vol.Stat("css/site.css")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(style.Name(), style.Size())
	// Output:
	// <!doctype html>
	// <title>Folio &amp; friends</title>
	// <link rel="stylesheet" href="css/site.css">
	// site.css 39
}
