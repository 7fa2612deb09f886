package main

import (
	"github.com/spf13/cobra"

	"github.com/foliofs/folio/cmd/folio/internal/convert"
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
