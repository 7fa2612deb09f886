package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
)

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
		loc, err := location.WholeVolume(args[0])
		if err != nil {
			return err
		}
		return c.changeVolume(cmd.Context(), loc, func(v *folio.Volume) error {
			return removeSnapshots(cmd.Context(), v, loc, args[1:])
		})
	}
	return cmd
}

// removeSnapshots removes snapshots if all of them are there.
func removeSnapshots(ctx context.Context, v *folio.Volume, loc location.Location, names []string) error {
	list, err := v.Snapshots(ctx)
	if err != nil {
		return err
	}
	found := make([]folio.Snapshot, len(names))
	for i, name := range names {
		at := slices.IndexFunc(list, func(s folio.Snapshot) bool { return s.Name == name })
		if at < 0 {
			loc.Snapshot = name
			return failure.At(loc.Tree(), folio.ErrNoSnapshot)
		}
		found[i] = list[at]
	}
	return v.RemoveSnapshots(ctx, found...)
}
