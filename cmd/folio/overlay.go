package main

import (
	"context"
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/compare"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/overlay"
	"github.com/foliofs/folio/cmd/folio/internal/value"
)

func (c *command) overlayCommand() *cobra.Command {
	return c.newGroup("overlay", "Run a program on a tree, and keep what it changes apart",
		`An overlay shows a tree, its base, and keeps in a volume what is changed in it. The base stays as it is.
It is a directory on disk, a volume, a snapshot, or a directory in one. The changes can be looked at,
committed to the base, or discarded.`,
		`  folio overlay run --base src changes.folio make
  folio overlay diff changes.folio
  folio overlay commit --base src changes.folio`,
		c.overlayRunCommand(), c.overlayDiffCommand(), c.overlayCommitCommand(), c.overlayDiscardCommand(), c.overlayEnterCommand())
}

// baseFlag lets a command name the base.
func baseFlag(cmd *cobra.Command, base *string) {
	cmd.Flags().StringVar(base, "base", "", "the `tree` below: a directory, VOLUME[@SNAPSHOT] or VOLUME:PATH; what the volume tells if it is not given")
	_ = cmd.RegisterFlagCompletionFunc("base", completeLocation)
}

// withOverlay calls fn with the overlay whose changes a volume keeps.
func withOverlay(volume, base string, fn func(o *overlay.Overlay) error) error {
	o, err := overlay.Open(volume, base, false)
	if err != nil {
		return err
	}
	err = fn(o)
	if closed := o.Close(); err == nil {
		err = failure.At(volume, closed)
	}
	return err
}

func (c *command) overlayDiffCommand() *cobra.Command {
	var base string
	var asJSON bool
	cmd := newCommand("diff VOLUME", "List what differs from the base",
		`List what differs from the base, as folio diff does: a letter for each kind of change and the path, with a
tab between. A was made, D was removed, R moved (with the old path first), M has another content, P has
other attributes. A directory that was removed or moved is one line. The exit code is 0 if nothing
differs, and 1 if something does.`,
		"  folio overlay diff changes.folio", between(1, 1, "VOLUME"))
	cmd.ValidArgsFunction = nil // files on disk
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		differs := false
		err := withOverlay(args[0], base, func(o *overlay.Overlay) error {
			for change, err := range o.Diff(cmd.Context()) {
				if err != nil {
					return err
				}
				differs = true
				c.printOverlayChange(&change, asJSON)
			}
			return nil
		})
		if err == nil && differs {
			err = errSilent
		}
		return err
	}
	baseFlag(cmd, &base)
	cmd.Flags().BoolVar(&asJSON, "json", false, "an object for each change")
	return cmd
}

// An overlayChangeJSON is a change of an overlay for programs; docs/reference/json.md describes the
// fields.
type overlayChangeJSON struct {
	value.JSONPath
	OldPath *value.JSONText `json:"old_path,omitempty"`
	Changes []string        `json:"changes"`
}

// overlayKinds are the kinds of package compare that mean the same.
var overlayKinds = map[folio.ChangeKind]compare.Kind{
	folio.ChangeMade: compare.Added, folio.ChangeRemoved: compare.Removed, folio.ChangeMoved: compare.Moved,
	folio.ChangeContent: compare.Modified, folio.ChangeAttributes: compare.Described,
}

func (c *command) printOverlayChange(change *folio.Change, asJSON bool) {
	var kind compare.Kind
	for mine, its := range overlayKinds {
		if change.Kind&mine != 0 {
			kind |= its
		}
	}
	object := overlayChangeJSON{JSONPath: value.JSONPathOf(change.Path), Changes: kind.Words()}
	slash, old := "", ""
	if change.Type == fs.ModeDir {
		slash = "/"
	}
	if change.OldPath != "" {
		object.OldPath, old = (*value.JSONText)(&change.OldPath), c.Name(change.OldPath+slash)+"\t"
	}
	c.list(asJSON, object, "%s\t%s%s\n", kind.Letters(), old, c.Name(change.Path+slash))
}

var errBaseMoved = errors.New("is not as the overlay knew it")

func (c *command) overlayCommitCommand() *cobra.Command {
	var base string
	var keep bool
	cmd := writingCommand("commit --base TREE VOLUME", "Make the changes in the base",
		`Make the changes in the base, and discard them from the volume. Files of the base that are not as they
were when the overlay changed them are named, and then nothing is changed. A base that is a volume is
changed in one transaction.`,
		"  folio overlay commit --base src changes.folio", between(1, 1, "VOLUME"))
	cmd.ValidArgsFunction = nil // files on disk
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withOverlay(args[0], base, func(o *overlay.Overlay) error {
			err := o.Base.Commit(cmd.Context(), o.Overlay)
			if err == nil && !keep {
				err = o.Discard(cmd.Context())
			}
			return c.commitFailure(cmd.Context(), o.Base, err)
		})
	}
	baseFlag(cmd, &base)
	one := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if base == "" {
			return usageError(cmd, errors.New("--base must name the tree to change: a volume from elsewhere could name any"))
		}
		return one(cmd, args)
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "keep the changes in the volume, too")
	return cmd
}

// commitFailure returns the error of a commit, after a line for each conflict.
func (c *command) commitFailure(ctx context.Context, b *overlay.Base, err error) error {
	conflict, ok := errors.AsType[*folio.ConflictError](err)
	switch {
	case ok:
		for _, at := range conflict.Conflicts {
			c.Warn(failure.Rehint(failure.At(at.Path, errors.New(at.What)), ""))
		}
		return failure.Hint(failure.At(b.Name, errBaseMoved), failure.NothingChanged)
	}
	return failure.At(b.Name, err)
}

func (c *command) overlayDiscardCommand() *cobra.Command {
	cmd := writingCommand("discard VOLUME", "Remove the changes",
		`Remove the changes of an overlay from the volume that keeps them. The volume stays. Its file does not
become smaller; folio compact gives the space back.`,
		"  folio overlay discard changes.folio", between(1, 1, "VOLUME"))
	cmd.ValidArgsFunction = nil // files on disk
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		vol, _, err := overlay.OpenKept(args[0], false)
		if err != nil {
			return err
		}
		err = vol.Update(cmd.Context(), func(tx *folio.Tx) error {
			list, err := tx.ReadDir(".")
			for _, e := range list {
				err = errors.Join(err, tx.RemoveAll(e.Name()))
			}
			return err
		})
		return failure.At(args[0], errors.Join(err, vol.Close()))
	}
	return cmd
}
