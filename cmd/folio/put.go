package main

import (
	"github.com/spf13/cobra"
)

func (c *command) putCommand() *cobra.Command {
	cp := &copier{streams: &c.streams}
	cmd := writingCommand("put FILE... VOLUME[:PATH]", "Put files from disk into a volume",
		`Copy files from disk into a volume: into PATH if it is a directory, as the root is, and otherwise a
single file to that name. A dash is standard input, which needs a name.

The copy is one transaction. A reader of the volume sees none of the new files or all of them, and an
error changes nothing. The volume is not locked while standard input is read. As folio cp does, the
command copies modes as far as the umask allows, and with -p modes, owners and times.`,
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
			cp.sources = append(cp.sources, p)
		}
		cp.dest = volumePlace(args[last])
		if first := args[0]; !cp.create && isVolume(locate(first).volume) && !isVolume(cp.dest.volume) {
			return rehint(failure(cp.dest.volume, errNoVolume), "the volume comes last: folio put FILE... VOLUME[:PATH]")
		}
		return cp.run(cmd.Context())
	}
	copyFlags(cmd, cp)
	createFlag(cmd.Flags(), &cp.create)
	return cmd
}
