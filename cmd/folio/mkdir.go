package main

import (
	"errors"
	"io/fs"

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
		return c.change(cmd.Context(), args, &m.create, m.make)
	}
	flags := cmd.Flags()
	flags.BoolVarP(&m.parents, "parents", "p", false, "make the directories that lead to it, and accept that it is there")
	flags.BoolVarP(&m.verbose, "verbose", "v", false, "name each directory that is made")
	flags.FuncP("mode", "m", "give it this `mode`, as chmod takes it", setTo(&m.mode, parseMode))
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
	for end := range len(o.path) + 1 {
		if end < len(o.path) && o.path[end] != '/' {
			continue
		}
		name, perm := o.path[:end], fs.ModePerm&^umask
		if _, err := tx.Stat(name); err == nil {
			continue
		}
		switch _, err := tx.Lstat(name); {
		case err == nil:
			return o.failure(name, fs.ErrExist)
		case !errors.Is(err, fs.ErrNotExist):
			return o.failure(name, err)
		case end < len(o.path):
			perm |= ownerEnters
		}
		if err := tx.Mkdir(name, perm); err != nil {
			return o.fail(err)
		}
		m.sayMade(o, name)
	}
	if !isDir(&tx.Rx, o.path) {
		return o.fail(fs.ErrExist)
	}
	return nil
}

// ownerEnters are permissions of a directory that mkdir -p makes on the way, whatever the umask
// says. As POSIX has it, the owner can make a directory in it.
const ownerEnters fs.FileMode = 0o300

func (m *mkdir) sayMade(o *operand, name string) {
	if m.verbose {
		m.say("folio: created directory '%s'", o.display(name))
	}
}
