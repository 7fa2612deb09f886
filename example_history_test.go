package folio_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/foliofs/folio"
)

// A snapshot is read like the volume itself, while that changes.
func ExampleVolume_OpenSnapshot() {
	vol := memoryVolume()
	defer vol.Close()
	ctx := context.Background()
	check(vol.CreateSnapshot(ctx, "monday"))
	check(vol.WriteFile("drafts/2026/a.md", []byte("# Changed\n"), 0o644))

	monday, err := vol.OpenSnapshot(ctx, "monday")
	check(err)
	defer monday.Close()
	text, err := monday.ReadFile("drafts/2026/a.md")
	fmt.Printf("%q %v\n", text, err)
	// Output: "# A\n" <nil>
}

// A directory goes back to its state of a snapshot. Other directories stay as they are.
func ExampleVolume_Restore() {
	vol := memoryVolume()
	defer vol.Close()
	ctx := context.Background()
	check(vol.CreateSnapshot(ctx, "before"))
	check(vol.RemoveAll("drafts"))
	check(vol.WriteFile("new.md", []byte("# New\n"), 0o644))

	_, err := vol.Restore(ctx, "before", "drafts", nil)
	check(err)
	text, err := vol.ReadFile("drafts/2026/a.md")
	fmt.Printf("%q %v\n", text, err)
	_, err = vol.Stat("new.md")
	fmt.Println(err)
	// Output:
	// "# A\n" <nil>
	// <nil>
}

// The versions of a file follow it through a rename.
func ExampleVolume_Versions() {
	vol := memoryVolume()
	defer vol.Close()
	ctx := context.Background()
	check(vol.CreateSnapshot(ctx, "monday"))
	check(vol.Rename("drafts/2026/a.md", "drafts/2026/final.md"))
	check(vol.WriteFile("drafts/2026/final.md", []byte("# The final text\n"), 0o644))

	versions, err := vol.Versions(ctx, "drafts/2026/final.md")
	check(err)
	for _, v := range versions {
		fmt.Println(v.Path, v.Info.Size(), v.Current)
	}
	// Output:
	// drafts/2026/final.md 17 true
	// drafts/2026/a.md 4 false
}

// Changes of a volume since a snapshot.
func ExampleVolume_Diff() {
	vol := memoryVolume()
	defer vol.Close()
	ctx := context.Background()
	check(vol.CreateSnapshot(ctx, "monday"))
	check(vol.WriteFile("drafts/2026/a.md", []byte("# Changed\n"), 0o644))
	check(vol.WriteFile("drafts/2026/c.md", []byte("# C\n"), 0o644))

	for change, err := range vol.Diff(ctx, "monday", "") {
		check(err)
		fmt.Println(change.Kind&^folio.ChangeAttributes, change.Path)
	}
	// Output:
	// content drafts/2026/a.md
	// made drafts/2026/c.md
}

// A call that waits for another writer ends when its context does.
func ExampleVolume_WithContext() {
	vol := memoryVolume()
	defer vol.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	cancel() // as when the client of a server goes away
	err := vol.WithContext(ctx).WriteFile("late.txt", nil, 0o644)
	fmt.Println(errors.Is(err, context.Canceled))
	// Output: true
}
