package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/value"
)

// A snapshotJSON is a snapshot as --json tells it.
type snapshotJSON struct {
	Name value.JSONText `json:"name"`
	Time string         `json:"time"`
}

func (c *command) snapshotListCommand() *cobra.Command {
	var json bool
	cmd := newCommand("list VOLUME", "List the snapshots of a volume",
		`List the snapshots of a volume, the oldest first: when each was made, and its name.

With --json: one object for each snapshot and line, as docs/howto/command.md describes.`,
		`  folio snapshot list photos.folio
  folio snapshot list --json photos.folio | jq -r .name`,
		between(1, 1, "one VOLUME"))
	onVolume(cmd, func(_ context.Context, loc location.Location) error {
		list, err := loc.Snapshots()
		if err != nil {
			return err
		}
		return c.printSnapshots(list, json)
	})
	cmd.Aliases = []string{"ls"}
	cmd.Flags().BoolVar(&json, "json", false, "one JSON object for each snapshot")
	return cmd
}

func (c *command) printSnapshots(list []folio.Snapshot, json bool) error {
	for _, s := range list {
		var err error
		if json {
			err = value.WriteJSON(c.Stdout, snapshotJSON{value.JSONText(s.Name), value.JSONTime(s.Time.UnixNano())})
		} else {
			_, err = fmt.Fprintf(c.Stdout, "%s  %s\n", s.Time.Format("2006-01-02 15:04:05 -0700"), c.Name(s.Name))
		}
		if err != nil {
			return failure.OfOutput(err)
		}
	}
	return nil
}
