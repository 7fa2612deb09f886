package main

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
)

// An ln makes links.
type ln struct {
	*command
	symbolic, force, exact bool

	dest location.Operand
	into bool            // dest is a directory
	made map[string]bool // names of links
}

func (c *command) lnCommand() *cobra.Command {
	l := &ln{command: c}
	cmd := writingCommand("ln [-s] TARGET... VOLUME:LINK", "Make links",
		`Give files further names: in LINK if it is a directory, and otherwise a single file the name LINK. All
links are made, or none.

Without -s, TARGET is a file in the same volume, VOLUME:PATH, and the new name is as good as the old
one. With -s, TARGET is any text. The symbolic link holds it as a path from its own directory. A path
that begins with a slash, or leads above the root, is kept but never followed within a volume.`,
		`  folio ln photos.folio:2026/may/1.jpg photos.folio:best.jpg
  folio ln -s 2026/may photos.folio:latest`,
		between(2, -1, "TARGET and VOLUME:LINK"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return l.run(cmd, args) }
	flags := cmd.Flags()
	flags.BoolVarP(&l.symbolic, "symbolic", "s", false, "make symbolic links")
	flags.BoolVarP(&l.force, "force", "f", false, "replace files that have the name of a link")
	flags.BoolVarP(&l.exact, "no-target-directory", "T", false, "LINK is the name, even if a directory has it")
	return cmd
}

func (l *ln) run(cmd *cobra.Command, args []string) error {
	targets := args[:len(args)-1]
	l.dest, l.made = location.ParseOperand(args[len(args)-1]), make(map[string]bool)
	if !l.symbolic {
		if err := location.SameVolume(location.ParseOperands(args), "a file can have names in one volume only"); err != nil {
			return err
		}
	}
	return l.dest.Update(cmd.Context(), &l.Streams, nil, func(tx *folio.Tx) (err error) {
		if l.into, err = location.Into(&tx.Rx, &l.dest, l.exact, len(targets)); err != nil {
			return err
		}
		for _, target := range targets {
			if l.symbolic {
				err = l.symlink(tx, target)
			} else {
				err = l.link(tx, location.ParseOperand(target))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// name returns the name of a link. base is the last element of its target.
func (l *ln) name(base string) string {
	if l.into {
		return path.Join(l.dest.Path, base)
	}
	return l.dest.Path
}

var errVolumeInTarget = errors.New("names a volume, which the target of a symbolic link does not")

func (l *ln) symlink(tx *folio.Tx, target string) error {
	if rest, ok := strings.CutPrefix(target, l.dest.Volume+":"); ok {
		return failure.Hint(failure.At(target, errVolumeInTarget), "write "+rest)
	}
	if err := l.dest.MustBeDir(l.into); err != nil {
		return err
	}
	to := l.name(path.Base(target))
	info, err := tx.Stat(path.Join(path.Dir(to), target)) // a file that would be lost if it were replaced by the link
	if err != nil {
		info = nil
	}
	err = l.makeWay(tx, to, path.Join(path.Dir(to), target), info)
	if err == nil {
		err = tx.Symlink(target, to)
	}
	return l.failure(to, err)
}

var errDirLink = errors.New("is a directory, which has one name only")

func (l *ln) link(tx *folio.Tx, o location.Operand) error {
	info, err := tx.Lstat(o.Path)
	if err != nil {
		return o.Fail(err)
	}
	if info.IsDir() {
		return failure.Hint(o.Fail(errDirLink), "-s makes a symbolic link")
	}
	if err := o.MustBeDir(false); err != nil {
		return err
	}
	if err := l.dest.MustBeDir(l.into); err != nil {
		return err
	}
	to := l.name(o.Base())
	err = l.makeWay(tx, to, o.Path, info)
	if err == nil {
		err = tx.Link(o.Path, to)
	}
	return l.failure(to, err)
}

// makeWay removes the file with the name of a new link, if --force asks for it. info describes
// the file target, to which the link leads; it is nil if there is none.
func (l *ln) makeWay(tx *folio.Tx, name, target string, info fs.FileInfo) error {
	there, err := tx.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.made[name] = true
		return nil
	case err != nil:
		return err
	case l.made[name]:
		return failure.ErrJustCreated
	case !l.force:
		return fs.ErrExist
	case there.IsDir():
		return folio.ErrIsDirectory
	case info != nil && location.Inode(there) == location.Inode(info) && (location.Links(there) == 1 || location.SameEntry(&tx.Rx, name, target)):
		return failure.ErrItself // the link would replace the file to which it leads
	}
	l.made[name] = true
	return tx.Remove(name)
}

func (l *ln) failure(name string, err error) error {
	if err = l.dest.Failure(name, err); errors.Is(err, fs.ErrExist) {
		return failure.Hint(err, "-f replaces it")
	}
	return err
}
