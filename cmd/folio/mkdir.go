package main

import (
	"errors"
	"io/fs"
	"path"
	"sort"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
)

// A mkdir makes directories.
type mkdir struct {
	*command
	parents, create bool
	verbose         bool
	mode            modeChange
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
		for _, o := range operandsOf(args) {
			m.made[o.volume] = m.create && !exists(o.volume)
		}
		return change(cmd.Context(), &c.streams, args, &m.create, m.make)
	}
	flags := cmd.Flags()
	flags.BoolVarP(&m.parents, "parents", "p", false, "make the directories that lead to it, and accept that it is there")
	flags.BoolVarP(&m.verbose, "verbose", "v", false, "name each directory that is made")
	flags.FuncP("mode", "m", "give it this `mode`, as chmod takes it", m.mode.Set)
	createFlag(flags, &m.create)
	return cmd
}

func (m *mkdir) make(tx *folio.Tx, o *operand) error {
	_, err := tx.Lstat(o.path)
	isNew := errors.Is(err, fs.ErrNotExist)
	switch {
	case m.parents:
		err = m.makeAll(tx, o)
	case o.path == "." && m.made[o.volume]:
		m.made[o.volume] = false // a second one finds it there
	case isNew && o.inside:
		err = o.fail(fs.ErrNotExist)
	default:
		err = o.fail(tx.Mkdir(o.path, fs.ModePerm&^umask))
	}
	if err == nil && isNew && !o.inside && !m.parents {
		m.sayMade(o, o.path)
	}
	if err != nil || m.mode == nil || !isNew || o.inside {
		return err
	}
	info, err := tx.Lstat(o.path)
	if err == nil { // inherited bits stay unless the mode names them
		err = tx.Chmod(o.path, m.mode.apply(info.Mode()|fs.ModePerm, umask))
	}
	return o.fail(err)
}

// makeAll makes a directory and those that lead to it, as far as they are not there. It makes none
// where a symbolic link leads.
func (m *mkdir) makeAll(tx *folio.Tx, o *operand) error {
	ends := elementEnds(o.path)
	there := sort.Search(len(ends), func(i int) bool {
		_, err := tx.Stat(o.path[:ends[i]])
		return err != nil
	})
	if there == len(ends) {
		if !isDir(&tx.Rx, o.path) {
			return o.fail(fs.ErrExist)
		}
		return nil
	}
	first := o.path[:ends[there]] // to be made
	switch _, err := tx.Lstat(first); {
	case err == nil:
		return o.failure(first, fs.ErrExist)
	case !errors.Is(err, fs.ErrNotExist):
		return o.failure(first, err)
	}
	for _, end := range ends[there:] {
		m.sayMade(o, o.path[:end])
	}
	perm := fs.ModePerm &^ umask
	if there < len(ends)-1 {
		if err := tx.MkdirAll(path.Dir(o.path), perm|ownerEnters); err != nil {
			return o.fail(err)
		}
	}
	return o.fail(tx.Mkdir(o.path, perm))
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

func (m *mkdir) sayMade(o *operand, name string) {
	if m.verbose {
		m.say("folio: created directory '%s'", o.display(name))
	}
}
