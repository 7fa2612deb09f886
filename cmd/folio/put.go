package main

import (
	"github.com/spf13/cobra"

	"github.com/foliofs/folio/cmd/folio/internal/copier"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
)

func (c *command) putCommand() *cobra.Command {
	cp := &copier.Copy{Streams: &c.Streams}
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
			if err := location.InFile(arg, "folio cp copies between volumes, and folio get to disk"); err != nil {
				return err
			}
			p := copier.OnDisk(arg)
			if arg == "-" {
				p = copier.Place{Stream: true}
			}
			cp.Sources = append(cp.Sources, p)
		}
		cp.Dest = copier.InVolume(args[last])
		if first := args[0]; !cp.Create && location.IsVolume(location.Parse(first).Volume) && !location.IsVolume(cp.Dest.Volume) {
			return failure.Rehint(failure.At(cp.Dest.Volume, failure.ErrNoVolume), "the volume comes last: folio put FILE... VOLUME[:PATH]")
		}
		return cp.Run(cmd.Context())
	}
	copyFlags(cmd, cp)
	createFlag(cmd.Flags(), &cp.Create)
	return cmd
}
