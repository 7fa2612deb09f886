package main

import (
	"errors"
	"io/fs"
	"path"
	"sort"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/value"
)

// A mkdir makes directories.
type mkdir struct {
	*command
	parents, create bool
	verbose         bool
	mode            value.ModeChange
	made            map[string]bool // volumes that --create makes
}

func (c *command) mkdirCommand() *cobra.Command {
	m := &mkdir{command: c}
	cmd := writingCommand("mkdir [-p] VOLUME:PATH...", "Make directories",
		`Make directories, all of them or none. With -p an existing directory is no error, and the directories
that lead to it are made, too. The umask limits their permissions.

With --create a volume that does not exist is made, too. folio create VOLUME makes an empty one.`,
		`  folio mkdir -p photos.folio:2026/may
  folio mkdir -m 700 photos.folio:private`,
		between(1, -1, "VOLUME:PATH"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		m.made = make(map[string]bool)
		for _, o := range location.ParseOperands(args) {
			m.made[o.Volume] = m.create && !location.Exists(o.Volume)
		}
		return location.Change(cmd.Context(), &c.Streams, args, &m.create, m.make)
	}
	flags := cmd.Flags()
	flags.BoolVarP(&m.parents, "parents", "p", false, "make the directories that lead to it, and accept that it is there")
	flags.BoolVarP(&m.verbose, "verbose", "v", false, "name each directory that is made")
	flags.FuncP("mode", "m", "give it this `mode`, as chmod takes it", m.mode.Set)
	createFlag(flags, &m.create)
	return cmd
}

func (m *mkdir) make(tx *folio.Tx, o *location.Operand) error {
	_, err := tx.Lstat(o.Path)
	isNew := errors.Is(err, fs.ErrNotExist)
	switch {
	case m.parents:
		err = m.makeAll(tx, o)
	case o.Path == "." && m.made[o.Volume]:
		m.made[o.Volume] = false // a second one finds it there
	case isNew && o.Inside:
		err = o.Fail(fs.ErrNotExist)
	default:
		err = o.Fail(tx.Mkdir(o.Path, fs.ModePerm&^value.Umask))
	}
	if err == nil && isNew && !o.Inside && !m.parents {
		m.sayMade(o, o.Path)
	}
	if err != nil || m.mode == nil || !isNew || o.Inside {
		return err
	}
	info, err := tx.Lstat(o.Path)
	if err == nil { // inherited bits stay unless the mode names them
		err = tx.Chmod(o.Path, m.mode.Apply(info.Mode()|fs.ModePerm, value.Umask))
	}
	return o.Fail(err)
}

// makeAll makes a directory and those that lead to it, as far as they are not there. It makes none
// where a symbolic link leads.
func (m *mkdir) makeAll(tx *folio.Tx, o *location.Operand) error {
	ends := elementEnds(o.Path)
	there := sort.Search(len(ends), func(i int) bool {
		_, err := tx.Stat(o.Path[:ends[i]])
		return err != nil
	})
	if there == len(ends) {
		if !location.IsDir(&tx.Rx, o.Path) {
			return o.Fail(fs.ErrExist)
		}
		return nil
	}
	first := o.Path[:ends[there]] // to be made
	switch _, err := tx.Lstat(first); {
	case err == nil:
		return o.Failure(first, fs.ErrExist)
	case !errors.Is(err, fs.ErrNotExist):
		return o.Failure(first, err)
	}
	for _, end := range ends[there:] {
		m.sayMade(o, o.Path[:end])
	}
	perm := fs.ModePerm &^ value.Umask
	if there < len(ends)-1 {
		if err := tx.MkdirAll(path.Dir(o.Path), perm|ownerEnters); err != nil {
			return o.Fail(err)
		}
	}
	return o.Fail(tx.Mkdir(o.Path, perm))
}

// elementEnds returns where the elements of a path end.
func elementEnds(name string) (ends []int) {
	for i := range len(name) {
		if name[i] == '/' {
			ends = append(ends, i)
		}
	}
	return append(ends, len(name))
}

// ownerEnters are permissions of a directory that mkdir -p makes on the way, whatever the umask
// says. As POSIX has it, the owner can make a directory in it.
const ownerEnters fs.FileMode = 0o300

func (m *mkdir) sayMade(o *location.Operand, name string) {
	if m.verbose {
		m.Say("folio: created directory '%s'", o.Display(name))
	}
}
