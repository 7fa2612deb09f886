package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/listing"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/value"
)

// A chmod changes modes.
type chmod struct {
	recursive bool
	change    value.ModeChange
}

func (c *command) chmodCommand() *cobra.Command {
	m := new(chmod)
	cmd := writingCommand("chmod [-R] MODE VOLUME:PATH...", "Change permissions",
		`Change the permissions of files, of all of them or of none. MODE is an octal number, such as 644, or
has the letters of chmod: u, g, o and a for the class, + - and = for the operation, and r, w, x, X, s
and t, or u, g and o, for the permissions. For example, u+x,go-w. If it names no class, the umask
limits it. A MODE that begins with a dash must follow "--".

A symbolic link stands for its target. With -R, symbolic links in directories are passed over.`,
		`  folio chmod 600 photos.folio:private/key
  folio chmod -R u=rwX,go=rX site.folio:public
  folio chmod -- -w photos.folio:2025`,
		m.args)
	cmd.ValidArgsFunction = completeLater(cobra.ShellCompDirectiveNoFileComp)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return location.Change(cmd.Context(), &c.Streams, args[1:], nil, m.apply)
	}
	cmd.SetFlagErrorFunc(modeFlagError)
	cmd.Flags().BoolVarP(&m.recursive, "recursive", "R", false, "change the files in directories, too")
	return cmd
}

// modeFlagError tells how to write a mode that begins with a dash, which reads as a flag.
func modeFlagError(cmd *cobra.Command, err error) error {
	e, ok := errors.AsType[*pflag.NotExistError](err)
	if ok && strings.ContainsAny(e.GetSpecifiedShortnames(), "rwxXstugo") {
		mode := "-" + e.GetSpecifiedShortnames()
		return failure.Hint(fmt.Errorf("%s is no flag", mode), fmt.Sprintf("a mode that begins with a dash follows \"--\": folio chmod -- %s VOLUME:PATH", mode))
	}
	return usageError(cmd, err)
}

func (m *chmod) args(cmd *cobra.Command, args []string) error {
	if err := between(2, -1, "MODE and VOLUME:PATH")(cmd, args); err != nil {
		return err
	}
	if err := m.change.Set(args[0]); err != nil {
		return usageError(cmd, fmt.Errorf("invalid mode %q: %w", args[0], err))
	}
	return nil
}

func (m *chmod) apply(tx *folio.Tx, o *location.Operand) error {
	info, err := tx.Stat(o.Path)
	if err != nil {
		return o.Fail(err)
	}
	if err := o.MustBeDir(info.IsDir()); err != nil {
		return err
	}
	if !m.recursive || !info.IsDir() {
		return o.Fail(tx.Chmod(o.Path, m.change.Apply(info.Mode(), value.Umask)))
	}
	top := *o
	top.Path = path.Clean(o.Path) + "/." // it may be a symbolic link to the directory
	return listing.Walk(top.Location, &tx.Rx, func(e *listing.Entry) error {
		if e.Mode.Type() == fs.ModeSymlink {
			return nil
		}
		return o.Failure(e.Path, tx.Chmod(e.Path, m.change.Apply(e.Mode, value.Umask)))
	})
}
