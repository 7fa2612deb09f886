package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/pgstore"
)

// A volume on a server is used like one in a file. A context limits how long a call may wait for
// the server.
func ExampleOpen() {
	ctx := context.Background()
	vol, err := pgstore.Open(ctx, "postgres://folio@db.example/files?volume=photos", nil)
	if errors.Is(err, folio.ErrNotVolume) {
		log.Fatal("make it by: folio create 'postgres://folio@db.example/files?volume=photos'")
	}
	if err != nil {
		log.Fatal(err)
	}
	defer vol.Close()
	text, err := vol.WithContext(ctx).ReadFile("notes/today.txt")
	if errors.Is(err, folio.ErrUnreachable) {
		log.Fatal("the server is away; try again later")
	}
	fmt.Printf("%s, %v\n", text, err)
}
