package main

import (
	"github.com/spf13/cobra"
)

func (c *command) linksCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "links",
		Short: "List and end the links to share that folio serve has made",
		Long: `A link lets people without a login see, or upload, what somebody has shared by folio serve. Its address is
known only to those who have it: the volume keeps a sum of it, which is the ID that these commands show and
take. Users list and end their own links in the page of the server.`,
		Example: `  folio links list photos.folio
  folio links end photos.folio 3f2a9c1d2b7e`,
		Args: c.unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.SuggestFor = []string{"shares"}
	cmd.AddCommand(c.linksListCommand(), c.linksEndCommand())
	return cmd
}
