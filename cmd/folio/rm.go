package main

import (
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
)

// An rm removes files.
type rm struct {
	recursive, force, dirs bool
}

func (c *command) rmCommand() *cobra.Command {
	r := new(rm)
	cmd := writingCommand("rm [-r] [-f] VOLUME:PATH...", "Remove files and directories",
		`Remove files, all of them or none: what goes wrong with one leaves the others where they are. A directory needs -r,
which removes all that is in it, or -d if it is empty. A symbolic link goes, not what it leads to.

The file of the volume does not shrink; folio compact makes it smaller.`,
		`  folio rm photos.folio:2026/may/blurred.jpg
  folio rm -rf photos.folio:2025`,
		between(1, -1, "VOLUME:PATH"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return c.change(cmd.Context(), args, nil, r.remove) }
	flags := cmd.Flags()
	flags.BoolVarP(&r.recursive, "recursive", "r", false, "remove directories with all that is in them")
	flags.BoolVarP(&r.recursive, "Recursive", "R", false, "the same")
	flags.Lookup("Recursive").Hidden = true
	flags.BoolVarP(&r.force, "force", "f", false, "it is no error that a file is not there")
	flags.BoolVarP(&r.dirs, "dir", "d", false, "remove empty directories")
	return cmd
}

var errRoot = errors.New("the root of a volume stays; rm of the system removes the volume")

func (r *rm) remove(tx *folio.Tx, o *operand) error {
	if o.path == "." {
		return o.fail(errRoot)
	}
	info, err := tx.Lstat(o.path)
	if err == nil && o.slash && !info.IsDir() {
		err = folio.ErrNotDirectory
	}
	if r.force && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, folio.ErrNotDirectory)) {
		return nil
	}
	if err == nil && o.inside {
		err = errInside
	}
	switch {
	case err != nil:
	case r.recursive:
		err = tx.RemoveAll(o.path)
	case info.IsDir() && !r.dirs:
		err = folio.ErrIsDirectory
	default:
		err = tx.Remove(o.path)
	}
	if errors.Is(err, folio.ErrIsDirectory) || errors.Is(err, folio.ErrNotEmpty) {
		return hint(o.fail(err), "-r removes it with all that is in it")
	}
	return o.fail(err)
}
