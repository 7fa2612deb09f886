package main

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/copier"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
)

func (c *command) cpCommand() *cobra.Command {
	cp := &copier.Copy{Streams: &c.Streams}
	cmd := writingCommand("cp [-r] SRC... DEST", "Copy files within a volume, into it, out of it, or to another one",
		`Copy files: into DEST if it is a directory, and otherwise a single file to that name. A name with a
colon, VOLUME:PATH, is in a volume, and "VOLUME:" is its root. A name without a colon is on disk. At
least one of the names must be in a volume.

An existing file of the name gets the new content and keeps its mode. Symbolic links are followed, or
copied with -r. As the system's cp does, the command copies modes as far as the umask allows, with -p
modes, owners and times, and with -a all attributes. "DIR/." stands for the files in DIR.

A copy into a volume is one transaction: all files are copied, or none. On disk each file appears
complete, nothing is written outside of DEST, and only root restores owners.

With --reflink copies within a volume share their content with the original until one of the two is
changed: a tree is copied in less than a second, whatever its size.`,
		`  folio cp photos.folio:2026/may/1.jpg photos.folio:best.jpg
  folio cp -r ~/notes photos.folio:2026
  folio cp -a photos.folio:2026 photos.folio:2025 /mnt/backup
  folio cp -r photos.folio:2026/. other.folio:all
  folio cp -a --reflink photos.folio:2026 photos.folio:try`,
		atLeastOneInside)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		for _, arg := range args {
			cp.Sources = append(cp.Sources, copier.Anywhere(arg))
		}
		last := len(args) - 1
		cp.Dest, cp.Sources = cp.Sources[last], cp.Sources[:last]
		for i := range cp.Sources {
			if p := &cp.Sources[i]; location.IsTree(p.Disk) {
				err := failure.ErrIsVolume
				if !location.Exists(p.Disk) {
					err = failure.ErrNamesSnapshot
				}
				return failure.Hint(p.Failure(err), p.Disk+": is what is in it, and folio put copies it as a file")
			}
		}
		err := cp.Run(cmd.Context())
		return partly(cp.Left, err)
	}
	copyFlags(cmd, cp)
	reflinkFlag(cmd, &cp.Reflink)
	createFlag(cmd.Flags(), &cp.Create)
	return cmd
}

func atLeastOneInside(cmd *cobra.Command, args []string) error {
	if err := between(2, -1, "SRC and DEST")(cmd, args); err != nil {
		return err
	}
	for _, arg := range args {
		if p := copier.Anywhere(arg); !p.OnDisk() {
			return nil
		}
	}
	return usageError(cmd, errNoneInside)
}

var errNoneInside = errors.New("none of these is in a volume: write VOLUME:PATH, or use cp of the system")

// copyFlags are the flags of cp, put and get.
func copyFlags(cmd *cobra.Command, c *copier.Copy) {
	flags := cmd.Flags()
	flags.BoolVarP(&c.Recursive, "recursive", "r", false, "copy directories with all that is in them")
	flags.BoolVarP(&c.Recursive, "Recursive", "R", false, "the same")
	flags.Lookup("Recursive").Hidden = true
	flags.BoolVarP(&c.Preserve, "preserve", "p", false, "keep modes, owners and times")
	flags.BoolVarP(&c.Archive, "archive", "a", false, "copy all there is: as -r and -p do, with hard links and extended attributes")
	flags.BoolVarP(&c.Quiet, "quiet", "q", false, "show no progress")
	flags.BoolVarP(&c.NoClobber, "no-clobber", "n", false, "pass over files whose new name is taken")
	exactFlag(cmd, &c.Exact)
	flags.BoolP("force", "f", false, "replace files that may not be written, too: that is always so")
	flags.BoolVarP(&c.OnlyNewer, "update", "u", false, "pass over files that are not older than what is copied")
	flags.BoolVarP(&c.Verbose, "verbose", "v", false, "name each file that is copied")
	noQuestions(flags)
}

var errNoQuestions = errors.New("a command is one transaction, and asks no questions while others wait for it")

// noQuestions refuses -i with the reason. Many people have cp, mv and rm as aliases with it.
func noQuestions(flags *pflag.FlagSet) {
	flags.BoolFuncP("interactive", "i", "not supported", func(string) error { return errNoQuestions })
	flags.Lookup("interactive").Hidden = true
}

func exactFlag(cmd *cobra.Command, value *bool) {
	cmd.Flags().BoolVarP(value, "no-target-directory", "T", false, "DEST is the new name, even if a directory has it")
}

// reflinkFlag is the flag of cp with the values of coreutils, except that without it nothing is
// shared: older versions of Folio do not open a volume in which files share content.
func reflinkFlag(cmd *cobra.Command, value *copier.Reflink) {
	cmd.Flags().Func("reflink", "share content within a volume: `WHEN` is always, auto (where that is possible) or never, the default", func(s string) error {
		switch *value = copier.Reflink(s); *value {
		case copier.ReflinkAlways, copier.ReflinkAuto, copier.ReflinkNever:
			return nil
		}
		return errReflink
	})
	cmd.Flags().Lookup("reflink").NoOptDefVal = string(copier.ReflinkAlways)
}

var errReflink = errors.New("it is always, auto or never")

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

func (c *command) getCommand() *cobra.Command {
	cp := &copier.Copy{Streams: &c.Streams}
	cmd := writingCommand("get VOLUME:PATH... DEST", "Get files out of a volume",
		`Copy files of a volume to disk: into DEST if it is a directory, and otherwise a single file to that
name. If DEST is a dash, the contents go to standard output.

Each file appears complete and replaces a file of its name. Nothing is written outside of DEST. As
folio cp does, the command copies modes as far as the umask allows, and with -p modes, times and, for
root, owners. folio export writes whole volumes.`,
		`  folio get photos.folio:2026/may/1.jpg .
  folio get -r photos.folio:2026 /tmp
  folio get backup.folio:shop.sql - | mysql shop`,
		between(2, -1, "VOLUME:PATH and DEST"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		last := len(args) - 1
		for _, arg := range args[:last] {
			cp.Sources = append(cp.Sources, copier.InVolume(arg))
		}
		if cp.Dest = copier.OnDisk(args[last]); args[last] == "-" {
			cp.Dest = copier.Place{Stream: true}
		}
		err := cp.Run(cmd.Context())
		return partly(cp.Left, err)
	}
	copyFlags(cmd, cp)
	return cmd
}

func (c *command) catCommand() *cobra.Command {
	cmd := newCommand("cat VOLUME:PATH...", "Write the contents of files to standard output",
		"",
		`  folio cat goroot.folio:VERSION
  folio cat site.folio:index.html site.folio:about.html > both.html`,
		between(1, -1, "VOLUME:PATH"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return viewEach(cmd.Context(), args, func(loc location.Location, rx *folio.Rx) error { return copier.Cat(c.Stdout, loc, rx) })
	}
	return cmd
}
