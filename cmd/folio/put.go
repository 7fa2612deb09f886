package main

import (
	"github.com/spf13/cobra"
)

func (c *command) putCommand() *cobra.Command {
	copying := c.newCopying("copying")
	cmd := writingCommand("put FILE... VOLUME[:PATH]", "Put files from disk into a volume",
		`Copy files from disk into a volume: into PATH if that is a directory, as the root is, and otherwise a single one to that
name. A dash is standard input, which needs a name.

It is one transaction: whoever reads the volume finds what was there before, or all of the new files as a whole, and whatever
goes wrong changes nothing. The volume is not locked while standard input is read. As folio cp does, it copies modes as far as
the umask lets it, and with -p modes, owners and times.`,
		`  folio put notes.txt photos.folio
  folio put -p *.jpg photos.folio:2026/may
  mysqldump shop | folio put - backup.folio:shop.sql
  folio put --create first.txt new.folio`,
		between(2, -1, "FILE and VOLUME[:PATH]"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		last := len(args) - 1
		for _, arg := range args[:last] {
			p := diskPlace(arg)
			if arg == "-" {
				p = place{stream: true}
			}
			copying.sources = append(copying.sources, p)
		}
		copying.dest = volumePlace(args[last])
		if first := args[0]; !copying.create && isVolume(locate(first).volume) && !isVolume(copying.dest.volume) {
			return &hintError{failure(copying.dest.volume, errNoVolume), "the volume comes last: folio put FILE... VOLUME[:PATH]"}
		}
		return copying.run(cmd.Context())
	}
	copying.flags(cmd)
	createFlag(cmd.Flags(), &copying.create)
	return cmd
}
