package main

import (
	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
)

func (c *command) catCommand() *cobra.Command {
	cmd := newCommand("cat VOLUME:PATH...", "Write the contents of files to standard output",
		"",
		`  folio cat goroot.folio:VERSION
  folio cat site.folio:index.html site.folio:about.html > both.html`,
		between(1, -1, "VOLUME:PATH"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return viewEach(cmd.Context(), args, c.cat)
	}
	return cmd
}

func (c *command) cat(loc location, rx *folio.Rx) error {
	f, err := rx.Open(loc.path)
	if err != nil {
		return loc.failure(loc.path, err)
	}
	defer f.Close()
	out := &output{w: c.stdout}
	if _, err = f.WriteTo(out); out.err != nil {
		return outputFailure(out.err)
	}
	return loc.failure(loc.path, err)
}
