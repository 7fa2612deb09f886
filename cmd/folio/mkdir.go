package main

import (
	"errors"
	"io/fs"

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
	perm := fs.ModePerm &^ umask
	if m.parents {
		err = tx.MkdirAll(o.path, perm)
	} else {
		err = tx.Mkdir(o.path, perm)
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return o.failure(e.Path, err) // of the directory on the way that is none
	}
	if err != nil || m.change == nil || !isNew {
		return o.fail(err)
	}
	return o.fail(tx.Chmod(o.path, m.change.apply(fs.ModeDir|fs.ModePerm, umask)))
}
