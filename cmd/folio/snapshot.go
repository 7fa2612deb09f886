package main

import (
	"github.com/spf13/cobra"
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
