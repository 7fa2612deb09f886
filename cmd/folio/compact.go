package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/value"
)

type compactJSON struct {
	value.JSONPath
	Before int64 `json:"before"`
	After  int64 `json:"after"`
}

func (c *command) compactCommand() *cobra.Command {
	var json, quiet bool
	cmd := writingCommand("compact VOLUME", "Make a volume's file as small as it can be",
		`Make a volume's file as small as it can be. A copy without free pages replaces it when the copy is
complete. Until then, and after an error, the volume is as it was. There must be space for the copy
next to it.

A volume that another program has open cannot be compacted.

With --json: one object; docs/reference/json.md describes it.`,
		"  folio compact photos.folio",
		between(1, 1, "one VOLUME"))
	onVolume(cmd, func(ctx context.Context, loc location.Location) error { return c.compact(ctx, loc, quiet, json) })
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "show neither progress nor summary")
	cmd.Flags().BoolVar(&json, "json", false, "one JSON object")
	return cmd
}

func (c *command) compact(ctx context.Context, loc location.Location, quiet, json bool) error {
	volume := loc.Volume
	if err := location.InFile(volume, "VACUUM of PostgreSQL makes space for new files"); err != nil {
		return err
	}
	v, err := loc.Open()
	if err != nil {
		return err
	}
	defer v.Close()
	start := time.Now()
	sizes, err := c.compactOpen(ctx, volume, v.Volume, quiet || json)
	switch {
	case err != nil:
		return failure.At(volume, err)
	case json:
		return value.WriteJSON(c.Stdout, sizes)
	case !quiet:
		fmt.Fprintf(c.Stdout, "%s: %s, was %s, in %.2f s\n", c.Name(volume), value.BinarySize(sizes.After), value.BinarySize(sizes.Before), time.Since(start).Seconds())
	}
	return nil
}

func (c *command) compactOpen(ctx context.Context, volume string, v *folio.Volume, quiet bool) (compactJSON, error) {
	sizes := compactJSON{JSONPath: value.JSONPathOf(volume)}
	before, err := v.Info(ctx)
	if err != nil {
		return sizes, err
	}
	p := c.NewProgress("compacting", quiet)
	defer p.Done()
	if err := v.Compact(ctx, &folio.CompactOptions{Progress: p.Set}); err != nil {
		return sizes, err
	}
	after, err := v.Info(ctx)
	sizes.Before, sizes.After = before.Size, after.Size
	return sizes, err
}
