package main

import (
	"github.com/spf13/cobra"
)

func (c *command) getCommand() *cobra.Command {
	copying := c.newCopying("copying")
	cmd := writingCommand("get VOLUME:PATH... DEST", "Get files out of a volume",
		`Copy files of a volume to disk: into DEST if that is a directory, and otherwise a single one to that name. If DEST is a
dash the contents go to standard output.

Each file appears complete, in place of one that has its name, and nothing is written outside of DEST. As folio cp does, it copies
modes as far as the umask lets it, and with -p modes, times and, for root, owners. folio export gives back whole volumes.`,
		`  folio get photos.folio:2026/may/1.jpg .
  folio get -r photos.folio:2026 /tmp
  folio get backup.folio:shop.sql - | mysql shop`,
		between(2, -1, "VOLUME:PATH and DEST"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		last := len(args) - 1
		for _, arg := range args[:last] {
			copying.sources = append(copying.sources, volumePlace(arg))
		}
		if copying.dest = diskPlace(args[last]); args[last] == "-" {
			copying.dest = place{stream: true}
		}
		return copying.run(cmd.Context())
	}
	copying.flags(cmd)
	return cmd
}
