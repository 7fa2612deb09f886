package folio_test

import (
	"context"
	"fmt"

	"github.com/foliofs/folio"
)

// An overlay keeps what a program changes apart, until it is committed or discarded.
func ExampleNewOverlay() {
	base, err := folio.OpenMemory(nil)
	check(err)
	defer base.Close()
	changes, err := folio.OpenMemory(nil)
	check(err)
	defer changes.Close()
	check(base.WriteFile("a.txt", []byte("old"), 0o644))
	check(base.WriteFile("b.txt", []byte("old"), 0o644))
	over, err := folio.NewOverlay(base.FS(), changes, nil) // or os.Root.FS
	check(err)
	defer over.Close()
	check(over.WriteFile("a.txt", []byte("new text"), 0o644))
	check(over.Remove("b.txt"))
	for c, err := range over.Diff(context.Background()) {
		check(err)
		fmt.Println(c.Path, c.Kind&folio.ChangeRemoved != 0)
	}
	check(base.Update(context.Background(), func(tx *folio.Tx) error { // all changes, or none
		return over.CommitTo(context.Background(), tx, ".")
	}))
	check(over.Discard(context.Background()))
	text, err := base.ReadFile("a.txt")
	fmt.Printf("%s, %v\n", text, err)
	// Output:
	// a.txt false
	// b.txt true
	// new text, <nil>
}
