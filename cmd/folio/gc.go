package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/value"
	"github.com/foliofs/folio/pgstore"
)

type gcJSON struct {
	value.JSONPath
	Listed  int64 `json:"listed"`
	Unnamed int64 `json:"unnamed"`
	Removed int64 `json:"removed"`
	objectsJSON
}

// An objectsJSON tells about the bucket of a volume.
type objectsJSON struct {
	Bucket       string `json:"bucket,omitempty"`
	Objects      int64  `json:"objects"`
	Bytes        int64  `json:"object_bytes"`
	Chunks       int64  `json:"object_chunks"`
	Used         int64  `json:"object_bytes_used"`
	Waiting      int64  `json:"waiting"`
	WaitingBytes int64  `json:"waiting_bytes"`
}

func (c *command) gcCommand() *cobra.Command {
	var json, quiet bool
	var unnamed time.Duration
	cmd := writingCommand("gc VOLUME", "Remove objects that a volume on a server does not need",
		`Remove objects from the bucket of a volume on a server that the volume does not need any more. Programs
that have the volume open do so from time to time with what was removed from the volume. Only gc looks
through the bucket, and removes objects whose program has died before it committed them. Once a day is
enough.

With --json: one object; docs/reference/json.md describes it.`,
		"  folio gc 'postgres://folio@db.example/files?volume=photos'",
		between(1, 1, "one VOLUME"))
	onVolume(cmd, func(ctx context.Context, loc location.Location) error { return c.gc(ctx, loc, unnamed, quiet, json) })
	cmd.Flags().DurationVar(&unnamed, "unnamed", 24*time.Hour, "the `age` from which on an object goes that was never committed")
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "show no summary")
	cmd.Flags().BoolVar(&json, "json", false, "one JSON object")
	return cmd
}

func (c *command) gc(ctx context.Context, loc location.Location, unnamed time.Duration, quiet, json bool) error {
	volume := loc.Volume
	v, err := loc.Open()
	if err != nil {
		return err
	}
	defer v.Close()
	if !location.OnServer(volume) {
		return failure.At(volume, fmt.Errorf("is a volume in a file, which has no objects; folio compact makes it smaller"))
	}
	r, err := pgstore.GC(ctx, v.Volume, &pgstore.GCOptions{MinAge: unnamed})
	switch {
	case err != nil:
		return failure.At(volume, err)
	case json:
		return value.WriteJSON(c.Stdout, gcJSON{value.JSONPathOf(volume), r.Listed, r.Unnamed, r.Removed, objectsJSON(r.ObjectInfo)})
	case quiet:
		return nil
	}
	fmt.Fprintf(c.Stdout, "%s: %s removed, %s in the bucket, %s; %s\n", c.Name(volume), value.Count(r.Removed, "object", "objects"),
		value.Count(r.Objects, "object", "objects"), value.BinarySize(r.Bytes), waiting(&r.ObjectInfo))
	return nil
}

// waiting describes the objects that wait for a sweep.
func waiting(i *pgstore.ObjectInfo) string {
	return fmt.Sprintf("%s, %s, not needed as a whole", value.Count(i.Waiting, "object", "objects"), value.BinarySize(i.WaitingBytes))
}
