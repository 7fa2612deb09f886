package main

import (
	"github.com/spf13/cobra"

	"github.com/foliofs/folio/cmd/folio/internal/copier"
)

func (c *command) getCommand() *cobra.Command {
	cp := &copier.Copy{Streams: &c.Streams}
	cmd := writingCommand("get VOLUME:PATH... DEST", "Get files out of a volume",
		`Copy files of a volume to disk: into DEST if it is a directory, and otherwise a single file to that
name. If DEST is a dash, the contents go to standard output.

Each file appears complete and replaces a file of its name. Nothing is written outside of DEST. As
folio cp does, the command copies modes as far as the umask allows, and with -p modes, times and, for
root, owners. folio export writes whole volumes.`,
		`  folio get photos.folio:2026/may/1.jpg .
  folio get -r photos.folio:2026 /tmp
  folio get backup.folio:shop.sql - | mysql shop`,
		between(2, -1, "VOLUME:PATH and DEST"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		last := len(args) - 1
		for _, arg := range args[:last] {
			cp.Sources = append(cp.Sources, copier.InVolume(arg))
		}
		if cp.Dest = copier.OnDisk(args[last]); args[last] == "-" {
			cp.Dest = copier.Place{Stream: true}
		}
		err := cp.Run(cmd.Context())
		return partly(cp.Left, err)
	}
	copyFlags(cmd, cp)
	return cmd
}
