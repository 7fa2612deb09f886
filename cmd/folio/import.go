package main

import (
	"github.com/spf13/cobra"

	"github.com/foliofs/folio/cmd/folio/internal/convert"
)

const importLong = `Make a volume of a tree: of a directory, or of an archive (tar, plain or compressed by gzip, bzip2 or
zstd, zip, SQLite archive). The content of SRC decides which one it is. A dash
reads a tar archive from standard input.

Modes, owners, times in nanoseconds, symbolic links, hard links, devices, fifos, holes and the extended
attributes user.*, for root also trusted.* and security.*, are kept, as far as the source has them.
Sockets are left out, with a warning.

The volume appears complete or not at all. An existing file is refused. --force replaces a volume at
that moment, and --force-any any file.

A file that cannot be read is left out with a warning, and the exit code is 3. The same holds for a
hard link of an archive to a file that --exclude leaves out. Several SRC go to directories of their
names.

With VOLUME:DIR the files go to a directory of an existing volume, all of them or none, in one
transaction. Other programs cannot write to the volume meanwhile. DIR is made if it does not exist.
Existing directories are merged. Any other existing name is refused, or with --force replaced by the
new file. Directories and files never replace each other.

A tree that changes while it is read is an error, and so is an archive that is cut off, damaged, or has
names that lead out of it.`

func (c *command) importCommand() *cobra.Command {
	i := &convert.Import{Streams: &c.Streams}
	cmd := writingCommand("import SRC... VOLUME[:DIR]", "Make a volume of a directory or an archive",
		importLong,
		`  folio import ~/photos photos.folio
  folio import backup.tar.gz backup.folio
  folio import --exclude '*.o' --exclude /build src work.folio
  folio import may.zip photos.folio:2026/may
  xz -dc linux.tar.xz | folio import - linux.folio`,
		func(cmd *cobra.Command, args []string) error {
			if err := between(2, -1, "SRC and VOLUME[:DIR]")(cmd, args); err != nil {
				return err
			}
			if err := i.SetOperands(args); err != nil {
				return usageError(cmd, err)
			}
			return nil
		})
	cmd.ValidArgsFunction = nil // files on disk
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return partly(i.Run(cmd.Context()))
	}
	flags := cmd.Flags()
	replaceFlags(&i.Replacing, flags, "VOLUME")
	flags.Lookup("force").Usage += "; with DIR, replace files that are there"
	flags.BoolVar(&i.AllowEmpty, "allow-empty", false, "with --force: let even an empty archive replace VOLUME")
	flags.BoolVarP(&i.Quiet, "quiet", "q", false, "show neither progress nor summary")
	flags.StringArrayVar(&i.Excluded, "exclude", nil, "leave out what matches this pattern: *.o, /build, a/**/b, cache/; may be given several times")
	flags.Func("max-size", "refuse contents of more than this `size` in bytes, such as 10G; 0 means no limit", i.MaxSize.Set)
	return cmd
}
