package sqlstore_test

import (
	"fmt"
	"log"

	"github.com/foliofs/folio/sqlstore"
)

// The program imports the driver, for example:
//
//	import _ "modernc.org/sqlite"
func ExampleOpen() {
	vol, err := sqlstore.Open("sqlite", "photos.folio", &sqlstore.Options{Create: true})
	if err != nil {
		log.Fatal(err)
	}
	defer vol.Close()

	if err := vol.WriteFile("hello.txt", []byte("hello"), 0o644); err != nil {
		log.Fatal(err)
	}
	p, err := vol.ReadFile("hello.txt")
	fmt.Printf("%s %v\n", p, err)
}
