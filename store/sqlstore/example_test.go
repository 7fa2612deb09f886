package sqlstore_test

import (
	"fmt"
	"log"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/store/sqlstore"
)

// The program imports the driver, for example:
//
//	import _ "modernc.org/sqlite"
func ExampleOpen() {
	s, err := sqlstore.Open("sqlite", "photos.folio", &sqlstore.Options{Create: true})
	if err != nil {
		log.Fatal(err)
	}
	vol, err := folio.OpenStore(s, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer vol.Close() // and the store

	if err := vol.WriteFile("hello.txt", []byte("hello"), 0o644); err != nil {
		log.Fatal(err)
	}
	p, err := vol.ReadFile("hello.txt")
	fmt.Printf("%s %v\n", p, err)
}
