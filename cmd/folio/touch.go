package main

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/value"
)

// A touch sets times.
type touch struct {
	access, modification bool // only these; both if neither is set
	noCreate, create     bool
	at                   value.Moment
}

func (c *command) touchCommand() *cobra.Command {
	t := new(touch)
	cmd := writingCommand("touch [-d TIME] VOLUME:PATH...", "Make empty files, or set the times of files",
		`Set the times of access and of modification of files to now, or to TIME, and make an empty file where there is none.
All of it happens, or nothing.

`+value.TimeForms,
		`  folio touch photos.folio:2026/complete
  folio touch -d 2026-05-01T12:00:00Z photos.folio:2026/may`,
		between(1, -1, "VOLUME:PATH"))
	t.at.Time = time.Now()
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return location.Change(cmd.Context(), &c.Streams, args, &t.create, t.touch)
	}
	flags := cmd.Flags()
	flags.BoolVarP(&t.access, "access", "a", false, "set the time of access only")
	flags.BoolVarP(&t.modification, "modification", "m", false, "set the time of modification only")
	flags.BoolVarP(&t.noCreate, "no-create", "c", false, "make no file")
	flags.FuncP("date", "d", "set this `time` instead of now", t.at.Set)
	createFlag(flags, &t.create)
	return cmd
}

func (t *touch) touch(tx *folio.Tx, o *location.Operand) error {
	info, err := tx.Stat(o.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && t.noCreate:
		return nil
	case errors.Is(err, fs.ErrNotExist) && !o.Slash:
		err = makeEmpty(tx, o.Path)
	case err == nil:
		err = o.MustBeDir(info.IsDir())
	}
	if err != nil {
		return o.Fail(err)
	}
	atime, mtime := t.at.Time, t.at.Time
	if t.access && !t.modification {
		mtime = time.Time{}
	}
	if t.modification && !t.access {
		atime = time.Time{}
	}
	return o.Fail(tx.Chtimes(o.Path, atime, mtime))
}

func makeEmpty(tx *folio.Tx, name string) error {
	f, err := tx.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o666&^value.Umask)
	if err != nil {
		return err
	}
	return f.Close()
}
