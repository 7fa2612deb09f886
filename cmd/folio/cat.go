package main

import (
	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/copier"
	"github.com/foliofs/folio/cmd/folio/internal/location"
)

func (c *command) catCommand() *cobra.Command {
	cmd := newCommand("cat VOLUME:PATH...", "Write the contents of files to standard output",
		"",
		`  folio cat goroot.folio:VERSION
  folio cat site.folio:index.html site.folio:about.html > both.html`,
		between(1, -1, "VOLUME:PATH"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return viewEach(cmd.Context(), args, func(loc location.Location, rx *folio.Rx) error { return copier.Cat(c.Stdout, loc, rx) })
	}
	return cmd
}
