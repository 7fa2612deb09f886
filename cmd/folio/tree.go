package main

import (
	"fmt"
	"io/fs"
	"path"

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
	rx              *folio.Rx
	guard           walkGuard
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
				t.rx = rx
				return t.draw()
			})
		},
	}
	flags := cmd.Flags()
	flags.VarP(&t.depth, "level", "L", "go down at most this many `levels`; 0 means all")
	flags.BoolVarP(&t.dirsOnly, "directories", "d", false, "directories only")
	flags.BoolVarP(&t.sizes, "size", "s", false, "tell sizes in bytes")
	flags.BoolVarP(&t.human, "human-readable", "h", false, "tell sizes like 1.5K and 20M")
	flags.BoolVar(&t.json, "json", false, "one JSON object for each file")
	plainHelp(cmd)
	return cmd
}

func (t *tree) draw() error {
	info, err := t.rx.Stat(t.loc.path)
	if err == nil && !info.IsDir() {
		err = folio.ErrNotDirectory
	}
	if err == nil {
		err = t.guard.enter(info)
	}
	if err != nil {
		return t.loc.failure(t.loc.path, err)
	}
	if !t.json {
		fmt.Fprintln(t.stdout, t.name(t.loc.String()))
	}
	if err := t.directory(t.loc.path, "", 1); err != nil || t.json {
		return err
	}
	summary := count(t.dirs, "directory", "directories")
	if !t.dirsOnly {
		summary += ", " + count(t.files, "file", "files")
	}
	fmt.Fprintf(t.stdout, "\n%s\n", summary)
	return nil
}

// directory draws what is in a directory, behind a margin.
func (t *tree) directory(dir, margin string, level int) error {
	list, err := t.rx.ReadDir(dir)
	if err != nil {
		return t.loc.failure(dir, err)
	}
	if t.dirsOnly {
		list = onlyDirs(list)
	}
	for i, d := range list {
		branch, below := "├── ", "│   "
		if i == len(list)-1 {
			branch, below = "└── ", "    "
		}
		e, err := t.entry(path.Join(dir, d.Name()), d)
		if err == nil {
			err = t.print(&e, margin+branch)
		}
		if err == nil && e.mode.IsDir() && level != int(t.depth) {
			err = t.enter(&e, margin+below, level+1)
		}
		if err != nil {
			return t.loc.failure(path.Join(dir, d.Name()), err)
		}
	}
	return nil
}

func onlyDirs(list []fs.DirEntry) (dirs []fs.DirEntry) {
	for _, d := range list {
		if d.IsDir() {
			dirs = append(dirs, d)
		}
	}
	return dirs
}

// entry looks at a file. Where its name is enough, it does without the inode.
func (t *tree) entry(path string, d fs.DirEntry) (entry, error) {
	if t.json || t.sizes || t.human || d.IsDir() || d.Type() == fs.ModeSymlink {
		return entryOf(t.rx, path, d)
	}
	return entry{path: path, name: d.Name(), mode: d.Type()}, nil
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

func (t *tree) enter(e *entry, margin string, level int) error {
	if err := t.guard.enterInode(uint64(e.node.Ino)); err != nil {
		return err
	}
	return t.directory(e.path, margin, level)
}
