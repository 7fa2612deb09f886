package main

import (
	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/serve"
)

func (c *command) linksEndCommand() *cobra.Command {
	cmd := writingCommand("end VOLUME[:PATH] ID...", "End links to share",
		`End links, all of them or none. Nobody can open them any more, and they cannot be made again: a new link has
another address. An ID may be cut after its first eight digits. A server need not be stopped.`,
		"  folio links end photos.folio 3f2a9c1d2b7e",
		between(2, -1, "VOLUME and ID"))
	cmd.SuggestFor = []string{"remove", "rm", "delete"}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return location.Change(cmd.Context(), &c.Streams, args[:1], nil, func(tx *folio.Tx, o *location.Operand) error {
			for _, id := range args[1:] {
				if err := serve.EndLink(tx, o.Path, id); err != nil {
					return failure.Hint(failure.At(o.String()+": "+id, err), "folio links list shows them")
				}
			}
			return nil
		})
	}
	return cmd
}
