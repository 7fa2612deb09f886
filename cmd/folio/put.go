package main

import (
	"github.com/spf13/cobra"
)

func (c *command) putCommand() *cobra.Command {
	copier := &copier{command: c}
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
			copier.sources = append(copier.sources, p)
		}
		copier.dest = volumePlace(args[last])
		if first := args[0]; !copier.create && isVolume(locate(first).volume) && !isVolume(copier.dest.volume) {
			return rehint(failure(copier.dest.volume, errNoVolume), "the volume comes last: folio put FILE... VOLUME[:PATH]")
		}
		return copier.run(cmd.Context())
	}
	copyFlags(cmd, copier)
	createFlag(cmd.Flags(), &copier.create)
	return cmd
}
