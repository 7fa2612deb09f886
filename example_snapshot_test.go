package folio_test

import (
	"context"
	"fmt"

	"github.com/foliofs/folio"
)

// A program copies one file back out of a snapshot, within the transaction in which it writes.
func ExampleRx_At() {
	vol := memoryVolume()
	defer vol.Close()
	ctx := context.Background()
	check(vol.CreateSnapshot(ctx, "monday"))
	check(vol.WriteFile("drafts/2026/a.md", []byte("# Spoiled\n"), 0o644))

	check(vol.Update(ctx, func(tx *folio.Tx) error {
		monday, err := tx.At("monday")
		if err != nil {
			return err
		}
		text, err := monday.ReadFile("drafts/2026/a.md")
		if err != nil {
			return err
		}
		return tx.WriteFile("drafts/2026/a-monday.md", text, 0o644)
	}))
	text, err := vol.ReadFile("drafts/2026/a-monday.md")
	fmt.Printf("%q %v\n", text, err)
	// Output: "# A\n" <nil>
}

// Snapshots that were listed are removed together. If another process has removed one of them, and
// made another one of its name, none is.
func ExampleVolume_RemoveSnapshots() {
	vol := memoryVolume()
	defer vol.Close()
	ctx := context.Background()
	for _, name := range []string{"monday", "tuesday", "wednesday"} {
		check(vol.CreateSnapshot(ctx, name))
	}
	list, err := vol.Snapshots(ctx)
	check(err)
	check(vol.RemoveSnapshots(ctx, list[:2]...))
	list, err = vol.Snapshots(ctx)
	fmt.Println(len(list), list[0].Name, err)
	// Output: 1 wednesday <nil>
}
