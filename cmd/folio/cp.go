package main

import (
	"github.com/spf13/cobra"
)

func (c *command) cpCommand() *cobra.Command {
	copying := c.newCopying("copying")
	cmd := writingCommand("cp [-r] SRC... DEST", "Copy files within a volume, into it, out of it, or to another one",
		`Copy files: into DEST if that is a directory, and otherwise a single one to that name. What has a colon, VOLUME:PATH, lies in
a volume, and "VOLUME:" is its root; what has none lies on disk. At least one of them is in a volume.

A file that has the name gets the new content and keeps its mode. Without -r symbolic links are followed, with it they are
copied. As the system's cp does, it copies modes as far as the umask lets it, with -p modes, owners and times, and
with -a all there is. "DIR/." stands for what is in DIR.

Into a volume it is one transaction: all is copied, or nothing. On disk each file appears complete, nothing is written
outside of DEST, and owners come back for root only.`,
		`  folio cp photos.folio:2026/may/1.jpg photos.folio:best.jpg
  folio cp -r ~/notes photos.folio:2026
  folio cp -a photos.folio:2026 photos.folio:2025 /mnt/backup
  folio cp -r photos.folio:2026/. other.folio:all`,
		atLeastOneInside)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		for _, arg := range args {
			copying.sources = append(copying.sources, anyPlace(arg))
		}
		last := len(args) - 1
		copying.dest, copying.sources = copying.sources[last], copying.sources[:last]
		for i := range copying.sources {
			if p := &copying.sources[i]; p.disk != "" && isVolume(p.disk) {
				return hint(p.failure(errIsVolume), p.disk+": is what is in it, and folio put copies it as a file")
			}
		}
		return copying.run(cmd.Context())
	}
	copying.flags(cmd)
	createFlag(cmd.Flags(), &copying.create)
	return cmd
}

func atLeastOneInside(cmd *cobra.Command, args []string) error {
	if err := between(2, -1, "SRC and DEST")(cmd, args); err != nil {
		return err
	}
	for _, arg := range args {
		if p := anyPlace(arg); !p.onDisk() {
			return nil
		}
	}
	return usageError(cmd, errNoneInside)
}
