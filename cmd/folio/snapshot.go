package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/value"
)

func (c *command) snapshotCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "snapshot",
		Short: "Give states of a volume a name, to read them later",
		Long: `A snapshot is a state of a volume that has a name. To make one takes the same time whatever the volume
holds; from then on a change keeps what it changes. VOLUME@NAME names a snapshot wherever a command reads
a volume, and VOLUME@NAME:PATH a file in it. folio restore takes files back to a snapshot, and folio log
tells the versions of a file.`,
		Example: `  folio snapshot create photos.folio before-cleanup
  folio ls photos.folio@before-cleanup:2026
  folio restore photos.folio@before-cleanup:2026/may
  folio snapshot prune photos.folio --keep-daily 7 --keep-weekly 5`,
		Args: c.unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.SuggestFor = []string{"snapshots"}
	cmd.AddCommand(c.snapshotCreateCommand(), c.snapshotListCommand(), c.snapshotRemoveCommand(), c.snapshotPruneCommand())
	return cmd
}

func (c *command) snapshotCreateCommand() *cobra.Command {
	cmd := writingCommand("create VOLUME [NAME]", "Give the state of a volume a name",
		`Give the state of a volume a name. NAME has 1 to 255 bytes that can be printed, without @, : and /.
Without it the name is made of the time in UTC, and printed.`,
		`  folio snapshot create photos.folio before-cleanup
  folio snapshot create photos.folio`,
		between(1, 2, "VOLUME and NAME"))
	cmd.ValidArgsFunction = nil // files on disk
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		volume, err := location.WholeVolume(args[0])
		if err != nil {
			return err
		}
		return c.changeVolume(cmd.Context(), volume, func(v *folio.Volume) error {
			if len(args) > 1 {
				return makeSnapshot(cmd.Context(), v, volume, args[1])
			}
			name, err := makeTimedSnapshot(cmd.Context(), v, volume)
			if err == nil {
				fmt.Fprintln(c.Stdout, name)
			}
			return err
		})
	}
	return cmd
}

var errHidden = errors.New("is a file on disk, which would hide the snapshot")

// makeSnapshot makes a snapshot, unless no command could read it.
func makeSnapshot(ctx context.Context, v *folio.Volume, volume, name string) error {
	at := location.Location{Volume: volume, Snapshot: name}
	if name != "" && location.Exists(at.Tree()) {
		return failure.Hint(failure.At(at.Tree(), errHidden), "choose another name")
	}
	return v.Snapshot(ctx, name)
}

// timedName is the form of a name that is made of the time: as ISO 8601 has it, without colons.
const timedName = "20060102T150405Z"

// makeTimedSnapshot makes a snapshot with a name of the time. If the name is taken, it appends a
// number.
func makeTimedSnapshot(ctx context.Context, v *folio.Volume, volume string) (name string, err error) {
	first := time.Now().UTC().Format(timedName)
	name = first
	for n := 2; ; n++ {
		err = makeSnapshot(ctx, v, volume, name)
		if !errors.Is(err, folio.ErrSnapshotExists) && !errors.Is(err, errHidden) {
			return name, err
		}
		name = fmt.Sprint(first, "-", n)
	}
}

// A snapshotJSON is a snapshot as --json tells it.
type snapshotJSON struct {
	Name value.JSONText `json:"name"`
	Time string         `json:"time"`
}

func (c *command) snapshotListCommand() *cobra.Command {
	var json bool
	cmd := newCommand("list VOLUME", "List the snapshots of a volume",
		`List the snapshots of a volume, the oldest first: when each was made, and its name.

With --json: one object for each snapshot and line, as docs/command.md describes.`,
		`  folio snapshot list photos.folio
  folio snapshot list --json photos.folio | jq -r .name`,
		between(1, 1, "one VOLUME"))
	onVolume(cmd, func(_ context.Context, volume string) error {
		list, err := location.Root(volume).Snapshots()
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

func (c *command) snapshotRemoveCommand() *cobra.Command {
	cmd := writingCommand("remove VOLUME NAME...", "Remove snapshots, and what only they have kept",
		`Remove snapshots, and what only they have kept. If one of them does not exist, none is removed. The file
of the volume does not shrink, but new files use the room. folio compact makes it smaller.`,
		"  folio snapshot remove photos.folio before-cleanup",
		between(2, -1, "VOLUME and NAME"))
	cmd.Aliases = []string{"rm"}
	cmd.SuggestFor = []string{"delete"}
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		words, _ := completeSnapshot(args[0], "", word)
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		volume, err := location.WholeVolume(args[0])
		if err != nil {
			return err
		}
		return c.changeVolume(cmd.Context(), volume, func(v *folio.Volume) error {
			return removeSnapshots(cmd.Context(), v, location.Root(volume), args[1:])
		})
	}
	return cmd
}

// removeSnapshots removes snapshots after it has seen that all of them are there.
func removeSnapshots(ctx context.Context, v *folio.Volume, loc location.Location, names []string) error {
	list, err := v.Snapshots(ctx)
	if err != nil {
		return err
	}
	for _, loc.Snapshot = range names {
		if !slices.ContainsFunc(list, func(s folio.Snapshot) bool { return s.Name == loc.Snapshot }) {
			return failure.At(loc.Tree(), folio.ErrNoSnapshot)
		}
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if err := v.RemoveSnapshot(ctx, name); err != nil {
			return err
		}
	}
	return nil
}
