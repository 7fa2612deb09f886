package main

import (
	"errors"
	"io/fs"
	"path"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
)

// An rm removes files.
type rm struct {
	*command
	recursive, force, dirs, verbose bool
}

func (c *command) rmCommand() *cobra.Command {
	r := &rm{command: c}
	cmd := writingCommand("rm [-r] [-f] VOLUME:PATH...", "Remove files and directories",
		`Remove files, all of them or none: an error of one of them leaves all where they are. A directory needs
-r, which removes all files in it, or -d if it is empty. Of a symbolic link only the link is removed.

The file of the volume does not shrink. folio compact makes it smaller.`,
		`  folio rm photos.folio:2026/may/blurred.jpg
  folio rm -rf photos.folio:2025`,
		between(1, -1, "VOLUME:PATH"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return location.Change(cmd.Context(), &c.Streams, args, nil, r.remove)
	}
	flags := cmd.Flags()
	flags.BoolVarP(&r.recursive, "recursive", "r", false, "remove directories with all that is in them")
	flags.BoolVarP(&r.recursive, "Recursive", "R", false, "the same")
	flags.Lookup("Recursive").Hidden = true
	flags.BoolVarP(&r.force, "force", "f", false, "it is no error that a file is not there")
	noQuestions(flags)
	flags.BoolVarP(&r.verbose, "verbose", "v", false, "name each file that is removed")
	flags.BoolVarP(&r.dirs, "dir", "d", false, "remove empty directories")
	return cmd
}

var (
	errRoot       = errors.New("the root of a volume stays; rm of the system removes the volume")
	errServerRoot = errors.New("the root of a volume stays; DROP SCHEMA removes the volume")
)

func (r *rm) remove(tx *folio.Tx, o *location.Operand) error {
	if o.Path == "." && location.OnServer(o.Volume) {
		return o.Fail(errServerRoot)
	}
	if o.Path == "." {
		return o.Fail(errRoot)
	}
	info, err := tx.Lstat(o.Path)
	if err == nil && o.Slash && !info.IsDir() {
		err = folio.ErrNotDirectory
	}
	if r.force && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, folio.ErrNotDirectory)) {
		return nil
	}
	if err == nil && o.Inside {
		err = failure.ErrInside
	}
	if err == nil && r.verbose {
		err = r.sayAll(tx, o, o.Path, info.IsDir())
	}
	switch {
	case err != nil:
	case r.recursive:
		err = tx.RemoveAll(o.Path)
	case info.IsDir() && !r.dirs:
		err = folio.ErrIsDirectory
	default:
		err = tx.Remove(o.Path)
	}
	if errors.Is(err, folio.ErrIsDirectory) || errors.Is(err, folio.ErrNotEmpty) {
		return failure.Hint(o.Fail(err), "-r removes it with all that is in it")
	}
	return o.Fail(err)
}

// sayAll names a file, after all that is in it.
func (r *rm) sayAll(tx *folio.Tx, o *location.Operand, name string, isDir bool) error {
	if !isDir {
		r.Say("removed '%s'", o.Display(name))
		return nil
	}
	list, err := tx.ReadDir(name)
	for _, d := range list {
		if err == nil {
			err = r.sayAll(tx, o, path.Join(name, d.Name()), d.IsDir())
		}
	}
	r.Say("removed directory '%s'", o.Display(name))
	return err
}
