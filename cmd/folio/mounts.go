package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio/cmd/folio/internal/mountpoint"
	"github.com/foliofs/folio/cmd/folio/internal/value"
)

type mountJSON struct {
	Volume   value.JSONText `json:"volume"`
	Snapshot value.JSONText `json:"snapshot,omitempty"`
	value.JSONPath
	Dir      value.JSONText `json:"dir"`
	ReadOnly bool           `json:"read_only"`
}

func (c *command) mountsCommand() *cobra.Command {
	var json bool
	cmd := newCommand("mounts", "List where volumes are mounted",
		`List the volumes that are mounted, a line for each: ro if it is mounted for reading only, otherwise rw;
the volume, with the directory in it; and where it is mounted.

With --json: one object for each mount and line, as docs/reference/json.md describes.`,
		"  folio mounts",
		between(0, 0, "no arguments"))
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	cmd.RunE = func(*cobra.Command, []string) error { return c.mounts(json) }
	cmd.Flags().BoolVar(&json, "json", false, "one JSON object for each mount")
	return cmd
}

func (c *command) mounts(json bool) error {
	mounts, err := mountpoint.Volumes()
	if err != nil {
		return err
	}
	for _, m := range mounts {
		if err := c.printMount(&m, json); err != nil {
			return err
		}
	}
	return nil
}

func (c *command) printMount(m *mountpoint.Mount, json bool) error {
	if json {
		loc := m.Location()
		return value.WriteJSON(c.Stdout, mountJSON{
			value.JSONText(loc.Volume), value.JSONText(loc.Snapshot), value.JSONPathOf(loc.Path), value.JSONText(m.Dir), m.ReadOnly,
		})
	}
	state := "rw"
	if m.ReadOnly {
		state = "ro"
	}
	_, err := fmt.Fprintf(c.Stdout, "%s %s %s\n", state, c.Name(m.Source), c.Name(m.Dir))
	return err
}
