package main

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
)

// A find is one search by what is known of files apart from their contents.
type find struct {
	*command
	want      criteria
	depth     levels
	nul, json bool
	printed   bool // what is deleted, too
	delete    bool
	ctx       context.Context
	found     []string // paths to be deleted

	loc   location
	rx    *folio.Rx
	guard walkGuard
}

const findLong = `Tell the paths of files that meet all of the given criteria, sorted by name at each level, directories before what is in
them. Symbolic links are not followed. A path is written as the other commands take it.

  --name and --iname take patterns for the last element: * is any characters, ? is one, [a-z] one of these.
  --size is +10k for more than 10 KiB, -1M for less than 1 MiB; given twice, for what lies between.
  --newer and --older are about the last change of the content: an age such as 90s, 15m, 12h, 7d, 2w, or a time as touch takes it.

With --json: one object for each file and line, as docs/command.md describes.`

func (c *command) findCommand() *cobra.Command {
	f := &find{command: c, depth: -1}
	cmd := &cobra.Command{
		Annotations: writes,

		Use:   "find VOLUME[:PATH]...",
		Short: "Find files by name, type, size and time",
		Long:  findLong,
		Example: `  folio find --name '*_test.go' goroot.folio:src
  folio find --type f --size +1M --older 2w photos.folio
  folio find -0 --type f --name '*.txt' notes.folio | xargs -0 folio cat`,
		Args:              f.checkArgs,
		ValidArgsFunction: completeLocation,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, arg := range args {
				if err := f.run(cmd, locate(arg)); err != nil {
					return err
				}
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.Var(&f.want.name, "name", "names that match this pattern")
	flags.Var(&f.want.iname, "iname", "the same, in upper or lower case")
	flags.VarP(&f.want.types, "type", "t", "f files, d directories, l symbolic links, p fifos, s sockets, b and c devices; several with commas")
	flags.VarP(&f.want.sizes, "size", "s", "more (+), less (-) or exactly that many bytes, with K, M, G or T for powers of 1024")
	flags.Var(&f.want.newer, "newer", "changed after that")
	flags.Var(&f.want.older, "older", "changed before that")
	flags.VarP(&f.depth, "level", "L", "go down at most this many `levels`; 0 is what the command line names")
	flags.Var(&f.depth, "maxdepth", "the same, as find(1) has it")
	flags.BoolVar(&f.delete, "delete", false, "remove the files that are found, all of them or none; directories must be empty then")
	flags.BoolVar(&f.printed, "print", false, "with --delete, tell the paths, too")
	flags.BoolVarP(&f.nul, "print0", "0", false, "end each path by a NUL, as xargs -0 expects")
	flags.BoolVar(&f.json, "json", false, "one JSON object for each file")
	return cmd
}

var errTwoForms = errors.New("--print0 and --json are two forms of the output; choose one")

func (f *find) checkArgs(cmd *cobra.Command, args []string) error {
	if f.nul && f.json {
		return usageError(cmd, errTwoForms)
	}
	return between(1, -1, "VOLUME[:PATH]")(cmd, args)
}

func (f *find) run(cmd *cobra.Command, loc location) error {
	f.ctx, f.loc, f.guard, f.found = cmd.Context(), loc, walkGuard{}, nil
	if f.delete {
		return f.update(cmd.Context(), loc, nil, f.remove)
	}
	return loc.view(cmd.Context(), func(rx *folio.Rx) error {
		f.rx = rx
		e, err := entryOf(rx, loc.path, nil)
		if err != nil {
			return loc.failure(loc.path, err)
		}
		return f.visit(&e, 0)
	})
}

// visit judges a file level directories below what the command line names, and what lies in it.
func (f *find) visit(e *entry, level int) error {
	if f.want.meets(e) {
		if f.delete && e.path != "." {
			f.found = append(f.found, e.path)
		}
		if err := f.tellFound(e); err != nil {
			return outputFailure(err)
		}
	}
	if !e.mode.IsDir() || level == int(f.depth) {
		return nil
	}
	if err := f.guard.enterInode(uint64(e.node.Ino)); err != nil {
		return f.loc.failure(e.path, err)
	}
	return f.directory(e.path, level+1)
}

func (f *find) directory(dir string, level int) error {
	if f.ctx.Err() != nil {
		return context.Cause(f.ctx)
	}
	list, err := f.rx.ReadDir(dir)
	if err != nil {
		return f.loc.failure(dir, err)
	}
	for _, d := range list {
		e, err := f.entry(path.Join(dir, d.Name()), d)
		if err != nil {
			return f.loc.failure(path.Join(dir, d.Name()), err)
		}
		if err := f.visit(&e, level); err != nil {
			return err
		}
	}
	return nil
}

// entry looks at a file. Where its name and type are enough, it does without the inode.
func (f *find) entry(path string, d fs.DirEntry) (entry, error) {
	if f.json || d.IsDir() || f.want.needNode() {
		return entryOf(f.rx, path, d)
	}
	return entry{path: path, name: d.Name(), mode: d.Type()}, nil
}

// tellFound prints a file, unless it is only to be deleted.
func (f *find) tellFound(e *entry) error {
	if f.delete && !f.printed && !f.nul && !f.json {
		return nil
	}
	if f.json {
		return writeJSON(f.stdout, e.json())
	}
	line := f.loc.display(e.path) + "\x00"
	if !f.nul {
		line = f.name(f.loc.display(e.path)) + "\n"
	}
	_, err := f.stdout.WriteString(line)
	return err
}

// remove removes what is found: what lies in a directory before the directory. As with find(1), the
// root stays.
func (f *find) remove(tx *folio.Tx) error {
	f.rx = &tx.Rx
	e, err := entryOf(f.rx, f.loc.path, nil)
	if err != nil {
		return f.loc.failure(f.loc.path, err)
	}
	if err := f.visit(&e, 0); err != nil {
		return err
	}
	for _, name := range slices.Backward(f.found) {
		if err := tx.Remove(name); err != nil {
			return f.loc.failure(name, err)
		}
	}
	return nil
}
