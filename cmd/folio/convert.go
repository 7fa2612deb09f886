package main

import (
	"github.com/spf13/cobra"

	"github.com/foliofs/folio/cmd/folio/internal/convert"
	"github.com/foliofs/folio/cmd/folio/internal/location"
)

const convertLong = `Make TARGET of SOURCE: a volume, a snapshot, a directory or an archive becomes a volume or an archive.

The content of SOURCE decides what it is: a volume, tar (plain, gzip, bzip2, zstd), zip, SQLite archive. The ending of TARGET decides what it becomes: .tar, .tar.gz, .tgz, .tar.zst, .tzst,
.zip or .sqlar; any other name is a volume, except one of another kind of archive,
such as .tar.xz or .7z, which is refused. --format overrides this.

TARGET appears complete or not at all. An existing one is refused, or with --force replaced at that
moment. Between two archives, a volume next to TARGET holds the files for the time being. docs/reference/archives.md
says what each format keeps.`

func (c *command) convertCommand() *cobra.Command {
	v := &convert.Convert{Streams: &c.Streams}
	cmd := writingCommand("convert SOURCE TARGET", "Make a volume or an archive of another one", convertLong,
		`  folio convert photos.folio photos.sqlar
  folio convert photos.folio@monday monday.folio
  folio convert backup.tar.gz backup.zip`,
		between(2, 2, "SOURCE and TARGET"))
	cmd.ValidArgsFunction = completeFirst
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return partly(v.Run(cmd.Context(), args[0], args[1]))
	}
	flags := cmd.Flags()
	replaceFlags(&v.Replacing, flags, "TARGET")
	flags.Lookup("force").Usage += ", or an archive"
	flags.StringVar(&v.Base, "base", "", "the `tree` that the volume SOURCE keeps the changes of: take in both")
	flags.StringVar(&v.Format, "format", "", "what TARGET becomes: volume, tar, tar.gz, tar.zst, zip or sqlar")
	flags.BoolVarP(&v.Quiet, "quiet", "q", false, "show neither progress nor summary")
	return cmd
}

// partly returns the error of a command that has left out files.
func partly(left int64, err error) error {
	if err == nil && left > 0 {
		err = errPartial
	}
	return err
}

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
