// Package undo_test shows how an editor undoes changes of a document that consists of many files.
package undo_test

import (
	"context"
	"fmt"
	"log"

	"github.com/foliofs/folio"
)

// A document is the files of one that is edited, such as chapters and pictures.
type document struct {
	vol   *folio.Volume
	edits int // that can be undone
}

// state is the name of the snapshot before an edit.
func state(edit int) string { return fmt.Sprint("edit-", edit) }

// edit changes the document, as a step that can be undone. To make a snapshot takes the same time
// however large the document is, and the snapshot costs what the edit changes.
func (d *document) edit(ctx context.Context, change func(tx *folio.Tx) error) error {
	if err := d.vol.CreateSnapshot(ctx, state(d.edits)); err != nil {
		return err
	}
	if err := d.vol.Update(ctx, change); err != nil {
		_ = d.vol.RemoveSnapshot(ctx, state(d.edits))
		return err
	}
	d.edits++
	return nil
}

// undo takes the last edit back.
func (d *document) undo(ctx context.Context) error {
	if d.edits == 0 {
		return nil
	}
	before := state(d.edits - 1)
	if _, err := d.vol.Restore(ctx, before, ".", nil); err != nil {
		return err
	}
	d.edits--
	return d.vol.RemoveSnapshot(ctx, before)
}

// print prints the files of the document.
func (d *document) print() {
	list, err := d.vol.ReadDir(".")
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range list {
		text, err := d.vol.ReadFile(e.Name())
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %s\n", e.Name(), text)
	}
}

// Example edits a document twice, and undoes both edits.
func Example() {
	ctx := context.Background()
	vol, err := folio.OpenMemory(nil) // or folio.Open
	if err != nil {
		log.Fatal(err)
	}
	defer vol.Close()
	doc := &document{vol: vol}
	must := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	must(vol.WriteFile("1.txt", []byte("Call me Ishmael."), 0o644))

	must(doc.edit(ctx, func(tx *folio.Tx) error {
		if err := tx.WriteFile("2.txt", []byte("I stuffed a shirt or two."), 0o644); err != nil {
			return err
		}
		return tx.Rename("1.txt", "loomings.txt")
	}))
	must(doc.edit(ctx, func(tx *folio.Tx) error { return tx.WriteFile("loomings.txt", []byte("Call me."), 0o644) }))
	doc.print()
	must(doc.undo(ctx))
	fmt.Println("undo")
	doc.print()
	must(doc.undo(ctx))
	fmt.Println("undo")
	doc.print()
	// Output:
	// 2.txt: I stuffed a shirt or two.
	// loomings.txt: Call me.
	// undo
	// 2.txt: I stuffed a shirt or two.
	// loomings.txt: Call me Ishmael.
	// undo
	// 1.txt: Call me Ishmael.
}
