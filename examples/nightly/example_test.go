// Package nightly_test shows how a program keeps the states of the last nights, weeks and months.
package nightly_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/foliofs/folio"
)

// keep are the rules: all of the last two days, and then fewer and fewer.
var keep = folio.PrunePolicy{Within: folio.PrunePeriod{Days: 2}, Daily: 7, Weekly: 5, Monthly: 12, Yearly: -1}

// nightly makes a snapshot of the day, and removes those that are no longer kept. It does no harm
// if it runs twice in a day.
func nightly(ctx context.Context, vol *folio.Volume, now time.Time) (removed []folio.Snapshot, err error) {
	err = vol.CreateSnapshot(ctx, now.Format(time.DateOnly))
	if err != nil && !errors.Is(err, folio.ErrSnapshotExists) {
		return nil, err
	}
	return vol.Prune(ctx, keep)
}

// Example makes the snapshot of a night. A program would do so at a time of its own; with the
// command it is, for example, in a line of crontab:
//
//	0 3 * * * folio snapshot create photos.folio && folio snapshot prune photos.folio --keep-daily 7 -q
func Example() {
	ctx := context.Background()
	vol, err := folio.OpenMemory(nil) // or folio.Open
	if err != nil {
		log.Fatal(err)
	}
	defer vol.Close()
	if err := vol.WriteFile("orders", []byte("3 chairs"), 0o644); err != nil {
		log.Fatal(err)
	}
	night := time.Date(2026, time.May, 1, 3, 0, 0, 0, time.UTC)
	removed, err := nightly(ctx, vol, night)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(removed), "removed")

	if err := vol.WriteFile("orders", nil, 0o644); err != nil {
		log.Fatal(err)
	}
	at, err := vol.OpenSnapshot(ctx, night.Format(time.DateOnly))
	if err != nil {
		log.Fatal(err)
	}
	defer at.Close()
	orders, err := at.ReadFile("orders")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", orders)
	// Output:
	// 0 removed
	// 3 chairs
}

// Example_years shows what is left of the nights of two years.
func Example_years() {
	var nights []folio.Snapshot
	first := time.Date(2023, time.January, 1, 3, 0, 0, 0, time.UTC)
	for day := range 2 * 365 {
		night := first.AddDate(0, 0, day)
		nights = append(nights, folio.Snapshot{Name: night.Format(time.DateOnly), Time: night})
	}
	kept, removed := keep.Choose(nights)
	fmt.Println(len(kept), "of", len(kept)+len(removed))
	for _, s := range kept {
		fmt.Println(s.Name)
	}
	// Output:
	// 23 of 730
	// 2023-01-01
	// 2023-12-31
	// 2024-01-31
	// 2024-02-29
	// 2024-03-31
	// 2024-04-30
	// 2024-05-31
	// 2024-06-30
	// 2024-07-31
	// 2024-08-31
	// 2024-09-30
	// 2024-10-31
	// 2024-11-30
	// 2024-12-08
	// 2024-12-15
	// 2024-12-22
	// 2024-12-24
	// 2024-12-25
	// 2024-12-26
	// 2024-12-27
	// 2024-12-28
	// 2024-12-29
	// 2024-12-30
}
