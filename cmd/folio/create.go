package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
)

func (c *command) createCommand() *cobra.Command {
	var o location.Replacing
	cmd := writingCommand("create VOLUME...", "Make empty volumes",
		`Make empty volumes. A file that is there is refused; --force replaces a volume or an empty file, and --force-any
whatever file is there.`,
		"  folio create notes.folio",
		between(1, -1, "VOLUME"))
	cmd.SuggestFor = []string{"init", "new", "mkfs", "format"}
	cmd.ValidArgsFunction = nil // files on disk
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		for _, arg := range args {
			if err := create(cmd.Context(), &o, arg); err != nil {
				return err
			}
		}
		return nil
	}
	replaceFlags(&o, cmd.Flags(), "VOLUME")
	return cmd
}

// create makes one empty volume.
func create(ctx context.Context, r *location.Replacing, volume string) error {
	if location.OnServer(volume) {
		return r.CreateOnServer(volume)
	}
	if err := r.CheckNew(volume, ""); err != nil {
		return err
	}
	location.Sweep(volume)
	options := &folio.CreateOptions{Replace: r.Replaces()}
	err := folio.Create(ctx, volume, options, func(*folio.Builder) error { return nil })
	return failure.At(volume, err)
}
