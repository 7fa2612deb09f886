package main

import (
	"github.com/spf13/cobra"

	"github.com/foliofs/folio/cmd/folio/internal/convert"
	"github.com/foliofs/folio/cmd/folio/internal/location"
)

const exportLong = `Write a volume, or a directory of it, to DEST: a directory on disk, or an archive.

A DEST that ends in .tar, .tar.gz, .tgz, .tar.zst, .tzst, .zip or .sqlar becomes an archive, unless it is a directory. A dash writes a tar archive to standard output. --format overrides this. An archive appears complete or
not at all. An existing one is refused, or with --force replaced at that moment.

A DEST that ends as another kind of archive does, such as .tar.xz or .7z, is refused.

Any other DEST is a directory, which is made if it does not exist. It gets the files in PATH. Modes,
times in nanoseconds, symbolic links, hard links, holes and extended attributes are restored. Only root
restores owners, devices, and the extended attributes trusted.* and security.*. For any other user, files
of another owner lose setuid and setgid. An extended attribute that the disk does not take is left out
with a warning, and the exit code is 3. Whatever names and links the volume holds, nothing is written
outside of DEST. A directory that is not empty is refused, or with --force added to: files with the same
name are replaced, directories are kept. After an error, a directory that was new or empty is empty again.

With --base, the tree of an overlay is exported whose changes the volume keeps.`

func (c *command) exportCommand() *cobra.Command {
	e := &convert.Export{Streams: &c.Streams}
	cmd := writingCommand("export VOLUME[:PATH] DEST", "Write a volume to a directory or an archive",
		exportLong,
		`  folio export photos.folio restored
  folio export goroot.folio:src/io io
  folio export photos.folio photos.tar.gz
  folio export photos.folio - | xz > photos.tar.xz`,
		between(2, 2, "VOLUME[:PATH] and DEST"))
	cmd.ValidArgsFunction = completeFirst
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		err := e.Run(cmd.Context(), location.Parse(args[0]), args[1])
		return partly(e.Left, err)
	}
	flags := cmd.Flags()
	flags.BoolVarP(&e.Force, "force", "f", false, "add to a directory that is not empty, or replace an archive")
	flags.StringVar(&e.Format, "format", "", "what DEST becomes: dir, tar, tar.gz, tar.zst, zip or sqlar")
	flags.StringVar(&e.Base, "base", "", "the `tree` that the volume keeps the changes of: a directory, VOLUME[@SNAPSHOT] or VOLUME:PATH")
	flags.BoolVarP(&e.Quiet, "quiet", "q", false, "show neither progress nor summary")
	flags.BoolVar(&e.NoOwner, "no-owner", false, "as root: do not give files the owners they had; in an archive, they belong to you")
	return cmd
}
