package main

import (
	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
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
				loc := locate(arg)
				err := loc.view(cmd.Context(), func(rx *folio.Rx) error { return cat(c.stdout, loc, rx) })
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
}
