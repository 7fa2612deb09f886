package main

import (
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
	for _, m := range mounts {
		var object mountJSON
		if json { // only this needs the location, which asks the daemon of a mount around it
			loc := m.Location()
			object = mountJSON{value.JSONText(loc.Volume), value.JSONText(loc.Snapshot), value.JSONPathOf(loc.Path), value.JSONText(m.Dir), m.ReadOnly}
		}
		state := "rw"
		if m.ReadOnly {
			state = "ro"
		}
		c.list(json, object, "%s %s %s\n", state, c.Name(m.Source), c.Name(m.Dir))
	}
	return err
}

func (c *command) unmountCommand() *cobra.Command {
	var lazy, force bool
	cmd := newCommand("unmount DIR...", "Unmount volumes",
		`Unmount the volumes that are mounted at directories, and return when they are closed. A volume that a
program uses stays mounted, and is an error; --lazy takes it out of sight all the same, and it is
unmounted when the last program is done.

A mount whose daemon was killed, where every program gets "transport endpoint is not connected" or hangs,
is removed in any case.`,
		"  folio unmount /mnt/photos",
		between(1, -1, "DIR"))
	cmd.SuggestFor = []string{"umount"}
	cmd.ValidArgsFunction = completeMounted
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		way := mountpoint.IfUnused
		switch {
		case force:
			way = mountpoint.ByForce
		case lazy:
			way = mountpoint.Lazily
		}
		for _, dir := range args {
			if err := mountpoint.Unmount(dir, way); err != nil {
				return err
			}
		}
		return nil
	}
	cmd.Flags().BoolVarP(&lazy, "lazy", "l", false, "take them out of sight, even if programs use them")
	cmd.Flags().BoolVar(&force, "force", false, "unmount them even if a daemon hangs; programs that use them get errors")
	return cmd
}

// completeMounted completes the directories that volumes are mounted at.
func completeMounted(*cobra.Command, []string, string) (dirs []string, _ cobra.ShellCompDirective) {
	mounts, _ := mountpoint.Volumes()
	for _, m := range mounts {
		dirs = append(dirs, m.Dir)
	}
	return dirs, cobra.ShellCompDirectiveNoFileComp
}
