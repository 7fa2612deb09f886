package main

import (
	"fmt"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/listing"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/value"
)

// A drawing is a tree that is drawn.
type drawing struct {
	*command
	depth           value.Levels
	dirsOnly, sizes bool
	human, json     bool
	loc             location.Location
	walker          listing.Walker
	dirs, files     int64
}

func (c *command) treeCommand() *cobra.Command {
	t := &drawing{command: c}
	cmd := newCommand("tree VOLUME[:PATH]", "Draw a directory and all that is in it",
		`Draw a directory and all that is in it.

With --json: one object for each file and line, parents first, as docs/reference/json.md describes.`,
		`  folio tree -L 2 goroot.folio:src
  folio tree -dh goroot.folio`,
		between(1, 1, "one VOLUME[:PATH]"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return viewEach(cmd.Context(), args, func(loc location.Location, rx *folio.Rx) error {
			t.loc, t.walker = loc, listing.NewWalker(loc, rx)
			t.walker.Inodes = func(d fs.DirEntry) bool {
				return t.json || t.sizes || t.human || t.Colors || d.Type() == fs.ModeSymlink
			}
			return t.draw()
		})
	}
	flags := cmd.Flags()
	flags.FuncP("level", "L", "go down at most this many `levels`; 0 means all", t.depth.Set)
	flags.BoolVarP(&t.dirsOnly, "directories", "d", false, "directories only")
	flags.BoolVarP(&t.sizes, "size", "s", false, "tell sizes in bytes")
	flags.BoolVarP(&t.human, "human-readable", "h", false, "tell sizes like 1.5K and 20M")
	flags.BoolVar(&t.json, "json", false, "one JSON object for each file")
	plainHelp(cmd)
	return cmd
}

func (t *drawing) draw() error {
	info, err := t.walker.Rx.Stat(t.loc.Path)
	if err == nil && !info.IsDir() {
		err = folio.ErrNotDirectory
	}
	if err != nil {
		return t.loc.Failure(t.loc.Path, err)
	}
	top, err := listing.OfInfo(t.walker.Rx, t.loc.Path, info)
	if err != nil {
		return err
	}
	if !t.json {
		fmt.Fprintln(t.Stdout, t.Name(t.loc.String()))
	}
	if err := t.directory(&top, "", 1); err != nil || t.json {
		return err
	}
	summary := value.Count(t.dirs, "directory", "directories")
	if !t.dirsOnly {
		summary += ", " + value.Count(t.files, "file", "files")
	}
	fmt.Fprintf(t.Stdout, "\n%s\n", summary)
	return nil
}

// directory draws the files in a directory, behind a margin.
func (t *drawing) directory(dir *listing.Entry, margin string, level int) error {
	list, err := t.walker.List(dir)
	if err != nil {
		return err
	}
	if t.dirsOnly {
		list = slices.DeleteFunc(list, func(e listing.Entry) bool { return !e.Mode.IsDir() })
	}
	for i := range list {
		branch, below := "├── ", "│   "
		if i == len(list)-1 {
			branch, below = "└── ", "    "
		}
		e := &list[i]
		if err := t.print(e, margin+branch); err != nil {
			return err
		}
		if e.Mode.IsDir() && level != int(t.depth) {
			if err := t.directory(e, margin+below, level+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *drawing) print(e *listing.Entry, margin string) error {
	if e.Mode.IsDir() {
		t.dirs++
	} else {
		t.files++
	}
	if t.json {
		return value.WriteJSON(t.Stdout, e.JSON())
	}
	_, err := fmt.Fprintf(t.Stdout, "%s%s%s\n", margin, t.sizeOf(e), t.nameAndTarget(e))
	return err
}

func (t *drawing) sizeOf(e *listing.Entry) string {
	switch {
	case t.human:
		return fmt.Sprintf("[%5s]  ", value.HumanSize(e.Node.Size))
	case t.sizes:
		return fmt.Sprintf("[%11d]  ", e.Node.Size)
	}
	return ""
}
