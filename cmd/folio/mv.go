package main

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
)

// An mv moves files within a volume.
type mv struct {
	*command
	noClobber, exact     bool
	verbose, interactive bool

	dest  operand
	into  bool            // dest is a directory
	moved map[uint64]bool // inodes that got a new name
}

func (c *command) mvCommand() *cobra.Command {
	m := &mv{command: c}
	cmd := writingCommand("mv VOLUME:PATH... VOLUME:DEST", "Move or rename files",
		`Move files and directories within a volume: into DEST if that is a directory, and otherwise a single one to that name.
A file that has the name is replaced, and so is an empty directory by a directory. All of them move, or none: whoever
looks sees all of them in their old places or in the new ones.`,
		`  folio mv photos.folio:2026/may/1.jpg photos.folio:2026/may/first.jpg
  folio mv photos.folio:a.txt photos.folio:b.txt photos.folio:docs/`,
		between(2, -1, "VOLUME:PATH and VOLUME:DEST"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		operands := operandsOf(args)
		if err := sameVolume(operands, "folio cp copies it there"); err != nil {
			return err
		}
		last := len(operands) - 1
		m.dest = operands[last]
		sources, err := m.wanted(cmd.Context(), operands[:last])
		if err != nil || len(sources) == 0 {
			return err
		}
		return c.update(cmd.Context(), m.dest.location, nil, func(tx *folio.Tx) error { return m.move(tx, sources) })
	}
	m.flags(cmd)
	exactFlag(cmd, &m.exact)
	return cmd
}

func (m *mv) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	var force bool // which is what happens without a flag
	lastWins(flags, &m.noClobber, &m.interactive, "no-clobber", "n", "pass over files whose new name is taken")
	lastWins(flags, &m.interactive, &m.noClobber, "interactive", "i", "ask before a file is replaced")
	flags.BoolFuncP("force", "f", "replace files, and ask nothing", func(text string) (err error) {
		if force, err = strconv.ParseBool(text); force {
			m.noClobber, m.interactive = false, false
		}
		return err
	})
	flags.BoolVarP(&m.verbose, "verbose", "v", false, "name each file that is moved")
}

// wanted returns the sources that are to be moved. With --interactive it asks about those whose new
// name is taken, before the volume is locked.
func (m *mv) wanted(ctx context.Context, sources []operand) ([]operand, error) {
	if !m.interactive {
		return sources, nil
	}
	q, err := m.newQuestioner()
	if err != nil {
		return nil, err
	}
	var taken []bool
	err = m.dest.view(ctx, func(rx *folio.Rx) (err error) {
		if m.into, err = destIn(rx, &m.dest, m.exact, len(sources)); err != nil {
			return err
		}
		for i := range sources {
			_, err := rx.Lstat(m.target(&sources[i]))
			taken = append(taken, err == nil)
		}
		return nil
	})
	var wanted []operand
	for i := range taken {
		if !taken[i] || q.ask("replace '%s'?", m.dest.display(m.target(&sources[i]))) {
			wanted = append(wanted, sources[i])
		}
	}
	return wanted, err
}

func noClobberFlag(cmd *cobra.Command, value *bool) {
	cmd.Flags().BoolVarP(value, "no-clobber", "n", false, "pass over files whose new name is taken")
}

func exactFlag(cmd *cobra.Command, value *bool) {
	cmd.Flags().BoolVarP(value, "no-target-directory", "T", false, "DEST is the new name, even if a directory has it")
}

var (
	errItself      = errors.New("is the same file")
	errIntoItself  = errors.New("cannot be put into itself")
	errJustCreated = errors.New("would replace what was put there a moment ago, under the same name")
	errInside      = errors.New("names a directory from within: write the name that it has above")
)

// destIn finds out whether so many files can go to dest, and whether they go into it.
func destIn(rx *folio.Rx, dest *operand, exact bool, sources int) (into bool, err error) {
	there := isDir(rx, dest.path)
	if into = !exact && there; into || sources == 1 && (there || !dest.inside) {
		return into, nil
	}
	_, err = rx.Stat(dest.path)
	if err == nil {
		err = folio.ErrNotDirectory
	}
	if err = dest.fail(err); sources == 1 {
		return false, err
	}
	return false, hint(err, severalFiles)
}

func (m *mv) move(tx *folio.Tx, sources []operand) (err error) {
	if m.into, err = destIn(&tx.Rx, &m.dest, m.exact, len(sources)); err != nil {
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
func (m *mv) target(o *operand) string {
	if m.into {
		return path.Join(m.dest.path, o.base())
	}
	return m.dest.path
}

func (m *mv) one(tx *folio.Tx, o *operand) error {
	info, err := tx.Lstat(o.path)
	if err != nil {
		return o.fail(err)
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
		return o.failure(to, err)
	}
	m.moved[inodeOf(info)] = true
	if m.verbose {
		m.say("renamed '%s' -> '%s'", o.String(), o.display(to))
	}
	return o.moveFailure(to, tx.Rename(o.path, to))
}

// mayMove says what is wrong with the names of a move.
func (m *mv) mayMove(o *operand, info fs.FileInfo) error {
	if err := o.mustBeDir(info.IsDir()); err != nil {
		return err
	}
	if o.inside {
		return o.fail(errInside)
	}
	if m.into {
		return nil
	}
	return m.dest.mustBeDir(info.IsDir())
}

// makeWay looks at what has the name that a file is to get, and takes it away if it may be replaced.
func (m *mv) makeWay(tx *folio.Tx, o *operand, info, there fs.FileInfo, to string) error {
	switch {
	case inodeOf(there) == inodeOf(info):
		return errItself
	case m.moved[inodeOf(there)]:
		return errJustCreated
	case info.Mode().Type() == fs.ModeSymlink && !there.IsDir() && leadsTo(&tx.Rx, o.path, there):
		return replaceTarget(tx, o.path, to)
	}
	return replace(tx, info, there, to)
}

// replaceTarget makes room for a symbolic link where a file is to which the link leads. It returns
// errItself if the link leads to the file by this name: both would be lost.
func replaceTarget(tx *folio.Tx, link, name string) error {
	if err := tx.Remove(name); err != nil {
		return err
	}
	if _, err := tx.Stat(link); err != nil {
		return errItself // which takes the removal back
	}
	return nil
}

// leadsTo reports whether a symbolic link leads to a file, which would be lost if it were replaced by the link.
func leadsTo(rx *folio.Rx, link string, there fs.FileInfo) bool {
	target, err := rx.Stat(link)
	return err == nil && inodeOf(target) == inodeOf(there)
}

// replace makes room for a file where another is: an empty directory goes, a file is replaced by what comes.
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

// moveFailure says what is wrong with a move.
func (o *operand) moveFailure(to string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrInvalid):
		return o.fail(errIntoItself)
	}
	return o.failure(to, err)
}

func inodeOf(info fs.FileInfo) uint64 { return uint64(info.Sys().(*folio.Node).Ino) }

// linksOf returns the number of names of a file.
func linksOf(info fs.FileInfo) uint64 { return uint64(info.Sys().(*folio.Node).Nlink) }
