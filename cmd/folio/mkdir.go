package main

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
)

// A mkdir makes directories.
type mkdir struct {
	parents, create bool
	mode            string
	change          modeChange
}

func (c *command) mkdirCommand() *cobra.Command {
	m := new(mkdir)
	cmd := writingCommand("mkdir [-p] VOLUME:PATH...", "Make directories",
		`Make directories, all of them or none. With -p it is no error that one is there, and those that lead to it are
made, too. What the umask takes away they do not permit.

With --create the volume is made, too, if there is none: folio mkdir -p --create VOLUME makes an empty one.`,
		`  folio mkdir -p photos.folio:2026/may
  folio mkdir -m 700 photos.folio:private`,
		between(1, -1, "VOLUME:PATH"))
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if m.mode != "" {
			if m.change, err = parseMode(m.mode); err != nil {
				return usageError(cmd, err)
			}
		}
		return change(cmd.Context(), args, m.create, m.make)
	}
	flags := cmd.Flags()
	flags.BoolVarP(&m.parents, "parents", "p", false, "make the directories that lead to it, and accept that it is there")
	flags.StringVarP(&m.mode, "mode", "m", "", "give it this `mode`, as chmod takes it")
	createFlag(flags, &m.create)
	return cmd
}

func (m *mkdir) make(tx *folio.Tx, o *operand) error {
	_, err := tx.Lstat(o.path)
	isNew := errors.Is(err, fs.ErrNotExist)
	switch {
	case m.parents:
		err = m.makeAll(tx, o)
	case isNew && o.inside:
		err = o.fail(fs.ErrNotExist)
	default:
		err = o.fail(tx.Mkdir(o.path, fs.ModePerm&^umask))
	}
	if err != nil || m.change == nil || !isNew || o.inside {
		return err
	}
	info, err := tx.Lstat(o.path)
	if err == nil { // what it inherited stays unless the mode says something about it
		err = tx.Chmod(o.path, m.change.apply(info.Mode()|fs.ModePerm, umask))
	}
	return o.fail(err)
}

// makeAll makes a directory and those that lead to it, as far as they are not there. It makes none where a symbolic link leads.
func (m *mkdir) makeAll(tx *folio.Tx, o *operand) error {
	for end := 0; end < len(o.path); {
		perm := fs.ModePerm&^umask | ownerEnters
		if i := strings.IndexByte(o.path[end+1:], '/'); i >= 0 {
			end += 1 + i
		} else {
			end, perm = len(o.path), fs.ModePerm&^umask
		}
		err := tx.Mkdir(o.path[:end], perm)
		if errors.Is(err, fs.ErrExist) && isDir(&tx.Rx, o.path[:end]) {
			err = nil
		}
		if err != nil {
			return o.failure(o.path[:end], err)
		}
	}
	return nil
}

// ownerEnters is what a directory on the way permits whatever the umask says: as POSIX has it, one can be made in it.
const ownerEnters fs.FileMode = 0o300
