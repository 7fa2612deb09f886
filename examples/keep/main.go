// Command keep keeps the states of a directory in a volume:
//
//	go run ./examples/keep DIRECTORY kept.folio
//
// Each run is a snapshot, which takes space only for the changes. folio ls kept.folio@NAME shows
// one.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/foliofs/folio"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: keep DIRECTORY VOLUME")
	}
	if err := keep(context.Background(), os.Args[1], os.Args[2], time.Now()); err != nil {
		log.Fatal(err)
	}
}

func keep(ctx context.Context, dir, volume string, now time.Time) (err error) {
	vol, err := folio.Open(volume, &folio.Options{Create: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, vol.Close()) }()
	err = vol.Merge(ctx, os.DirFS(dir), ".", &folio.MergeOptions{Policy: folio.MergeReplace})
	if err != nil {
		return err
	}
	if err := vol.CreateSnapshot(ctx, now.UTC().Format("20060102T150405.000")); err != nil {
		return err
	}
	list, err := vol.Snapshots(ctx)
	for _, s := range list {
		fmt.Println(s.Name)
	}
	return err
}
