package main

import (
	"fmt"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
)

// A tree is one drawing.
type tree struct {
	*command
	depth           levels
	dirsOnly, sizes bool
	human, json     bool
	loc             location
	walker          walker
	dirs, files     int64
}

func (c *command) treeCommand() *cobra.Command {
	t := &tree{command: c}
	cmd := &cobra.Command{
		Use:   "tree VOLUME[:PATH]",
		Short: "Draw a directory and all that is in it",
		Long: `Draw a directory and all that is in it.

With --json: one object for each file and line, parents first, as docs/command.md describes.`,
		Example: `  folio tree -L 2 goroot.folio:src
  folio tree -dh goroot.folio`,
		Args:              between(1, 1, "one VOLUME[:PATH]"),
		ValidArgsFunction: completeLocation,
		RunE: func(cmd *cobra.Command, args []string) error {
			t.loc = locate(args[0])
			return t.loc.view(cmd.Context(), func(rx *folio.Rx) error {
				t.walker = newWalker(t.loc, rx)
				t.walker.inodes = func(d fs.DirEntry) bool { return t.json || t.sizes || t.human || d.Type() == fs.ModeSymlink }
				return t.draw()
			})
		},
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

func (t *tree) draw() error {
	info, err := t.walker.rx.Stat(t.loc.path)
	if err == nil && !info.IsDir() {
		err = folio.ErrNotDirectory
	}
	if err != nil {
		return t.loc.failure(t.loc.path, err)
	}
	top, err := entryOfInfo(t.walker.rx, t.loc.path, info)
	if err != nil {
		return err
	}
	if !t.json {
		fmt.Fprintln(t.stdout, t.name(t.loc.String()))
	}
	if err := t.directory(&top, "", 1); err != nil || t.json {
		return err
	}
	summary := count(t.dirs, "directory", "directories")
	if !t.dirsOnly {
		summary += ", " + count(t.files, "file", "files")
	}
	fmt.Fprintf(t.stdout, "\n%s\n", summary)
	return nil
}

// directory draws the files in a directory, behind a margin.
func (t *tree) directory(dir *entry, margin string, level int) error {
	list, err := t.walker.list(dir)
	if err != nil {
		return err
	}
	if t.dirsOnly {
		list = slices.DeleteFunc(list, func(e entry) bool { return !e.mode.IsDir() })
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
		if e.mode.IsDir() && level != int(t.depth) {
			if err := t.directory(e, margin+below, level+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *tree) print(e *entry, margin string) error {
	if e.mode.IsDir() {
		t.dirs++
	} else {
		t.files++
	}
	if t.json {
		return writeJSON(t.stdout, e.json())
	}
	_, err := fmt.Fprintf(t.stdout, "%s%s%s\n", margin, t.sizeOf(e), t.nameAndTarget(e))
	return err
}

func (t *tree) sizeOf(e *entry) string {
	switch {
	case t.human:
		return fmt.Sprintf("[%5s]  ", humanSize(e.node.Size))
	case t.sizes:
		return fmt.Sprintf("[%11d]  ", e.node.Size)
	}
	return ""
}
