package main

import (
	"errors"
	"io/fs"
	"path"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
)

// An mv moves files within a volume.
type mv struct {
	*command
	noClobber, exact, verbose bool

	dest  location.Operand
	into  bool            // dest is a directory
	moved map[uint64]bool // inodes that got a new name
}

func (c *command) mvCommand() *cobra.Command {
	m := &mv{command: c}
	cmd := writingCommand("mv VOLUME:PATH... VOLUME:DEST", "Move or rename files",
		`Move files and directories within a volume: into DEST if it is a directory, and otherwise a single one
to that name. A file replaces a file that has the name, and a directory an empty directory. All of them
move, or none. A reader sees all of them in their old places, or all in their new ones.`,
		`  folio mv photos.folio:2026/may/1.jpg photos.folio:2026/may/first.jpg
  folio mv photos.folio:a.txt photos.folio:b.txt photos.folio:docs/`,
		between(2, -1, "VOLUME:PATH and VOLUME:DEST"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		operands := location.ParseOperands(args)
		if err := location.SameVolume(operands, "folio cp copies it there"); err != nil {
			return err
		}
		last := len(operands) - 1
		m.dest = operands[last]
		return m.dest.Update(cmd.Context(), &c.Streams, nil, func(tx *folio.Tx) error { return m.move(tx, operands[:last]) })
	}
	m.flags(cmd)
	exactFlag(cmd, &m.exact)
	return cmd
}

func (m *mv) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	var force bool // which is the default
	lastWins(flags, &m.noClobber, &force, "no-clobber", "n", "pass over files whose new name is taken")
	lastWins(flags, &force, &m.noClobber, "force", "f", "replace files whose name is taken")
	noQuestions(flags)
	flags.BoolVarP(&m.verbose, "verbose", "v", false, "name each file that is moved")
}

// lastWins adds a flag that undoes another, so that the last one on the command line counts.
func lastWins(flags *pflag.FlagSet, value, other *bool, name, short, usage string) {
	flags.BoolFuncP(name, short, usage, func(text string) (err error) {
		if *value, err = strconv.ParseBool(text); *value {
			*other = false
		}
		return err
	})
}

func (m *mv) move(tx *folio.Tx, sources []location.Operand) (err error) {
	if m.into, err = location.Into(&tx.Rx, &m.dest, m.exact, len(sources)); err != nil {
		return err
	}
	m.moved = make(map[uint64]bool)
	for i := range sources {
		if err := m.one(tx, &sources[i]); err != nil {
			return err
		}
	}
	return nil
}

// target returns the name that a source gets.
func (m *mv) target(o *location.Operand) string {
	if m.into {
		return path.Join(m.dest.Path, o.Base())
	}
	return m.dest.Path
}

func (m *mv) one(tx *folio.Tx, o *location.Operand) error {
	info, err := tx.Lstat(o.Path)
	if err != nil {
		return o.Fail(err)
	}
	to := m.target(o)
	there, err := tx.Lstat(to)
	if err == nil && m.noClobber {
		return nil
	}
	if err := m.mayMove(o, info); err != nil {
		return err
	}
	switch {
	case err == nil:
		err = m.makeWay(tx, o, info, there, to)
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	if err != nil {
		return o.Failure(to, err)
	}
	m.moved[location.Inode(info)] = true
	if m.verbose {
		m.Say("renamed '%s' -> '%s'", o.String(), o.Display(to))
	}
	return moveFailure(o, to, tx.Rename(o.Path, to))
}

// mayMove returns an error if the names of a move make no sense.
func (m *mv) mayMove(o *location.Operand, info fs.FileInfo) error {
	if err := o.MustBeDir(info.IsDir()); err != nil {
		return err
	}
	if o.Inside {
		return o.Fail(failure.ErrInside)
	}
	if m.into {
		return nil
	}
	return m.dest.MustBeDir(info.IsDir())
}

// makeWay removes the file with the new name, if it may be replaced. It must not replace the
// file itself, or what the same command has moved there: both would be lost.
func (m *mv) makeWay(tx *folio.Tx, o *location.Operand, info, there fs.FileInfo, to string) error {
	switch {
	case location.Inode(there) == location.Inode(info):
		return failure.ErrItself
	case m.moved[location.Inode(there)]:
		return failure.ErrJustCreated
	case info.Mode().Type() == fs.ModeSymlink && !there.IsDir() && location.LeadsTo(&tx.Rx, o.Path, there):
		return replaceTarget(tx, o.Path, to)
	}
	return replace(tx, info, there, to)
}

// replaceTarget removes a file so that a symbolic link which leads to it can get its name. It
// returns failure.ErrItself if the link leads to the file by this name: both would be lost.
func replaceTarget(tx *folio.Tx, link, name string) error {
	if err := tx.Remove(name); err != nil {
		return err
	}
	if _, err := tx.Stat(link); err != nil {
		return failure.ErrItself // which takes the removal back
	}
	return nil
}

// replace prepares a name for Rename: it removes an empty directory, but leaves a file, which
// Rename replaces.
func replace(tx *folio.Tx, info, there fs.FileInfo, name string) error {
	switch {
	case info.IsDir() && there.IsDir():
		return tx.Remove(name)
	case info.IsDir():
		return folio.ErrNotDirectory
	case there.IsDir():
		return folio.ErrIsDirectory
	}
	return nil
}

// moveFailure names a path in an error of a move.
func moveFailure(o *location.Operand, to string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrInvalid):
		return o.Fail(failure.ErrIntoItself)
	}
	return o.Failure(to, err)
}
