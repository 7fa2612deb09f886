package main

import (
	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/copier"
	"github.com/foliofs/folio/cmd/folio/internal/location"
)

func (c *command) catCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "cat VOLUME:PATH...",
		Short: "Write the contents of files to standard output",
		Example: `  folio cat goroot.folio:VERSION
  folio cat site.folio:index.html site.folio:about.html > both.html`,
		Args:              between(1, -1, "VOLUME:PATH"),
		ValidArgsFunction: completeLocation,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, arg := range args {
				loc := location.Parse(arg)
				err := loc.View(cmd.Context(), func(rx *folio.Rx) error { return copier.Cat(c.Stdout, loc, rx) })
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
}
