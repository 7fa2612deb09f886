package main

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/listing"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/value"
)

// A find is one search by names, types, sizes and times.
type find struct {
	*command
	want      listing.Criteria
	depth     value.Levels
	nul, json bool
	printed   bool // also the files that are deleted
	delete    bool
	ctx       context.Context
	found     []string // paths to be deleted

	loc    location.Location
	walker listing.Walker
}

const findLong = `Tell the paths of files that meet all of the given criteria, sorted by name at each level, a directory
before the files in it. Symbolic links are not followed. Paths have the form that other commands take.

  --name and --iname take patterns for the last element: * is any characters, ? is one, [a-z] one of these.
  --size is +10k for more than 10 KiB, -1M for less than 1 MiB. Two of them bound a range.
  --newer and --older are about the last change of the content. They take an age, such as 90s, 15m, 12h,
    7d or 2w, or a time as touch does.

With --json: one object for each file and line, as docs/reference/json.md describes.`

func (c *command) findCommand() *cobra.Command {
	f := &find{command: c, depth: -1}
	cmd := writingCommand("find VOLUME[:PATH]...", "Find files by name, type, size and time",
		findLong,
		`  folio find --name '*_test.go' goroot.folio:src
  folio find --type f --size +1M --older 2w photos.folio
  folio find -0 --type f --name '*.txt' notes.folio | xargs -0 folio cat`,
		f.checkArgs)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		for _, arg := range args {
			if err := f.run(cmd, location.Parse(arg)); err != nil {
				return err
			}
		}
		return nil
	}
	flags := cmd.Flags()
	flags.Func("name", "names that match this `glob`", f.want.Name.Set)
	flags.Func("iname", "the same `glob`, in upper or lower case", f.want.Iname.Set)
	flags.FuncP("type", "t", "`types`: f files, d directories, l symbolic links, p fifos, s sockets, b and c devices; several with commas", f.want.Types.Set)
	flags.FuncP("size", "s", "more (+), less (-) or exactly that `size` in bytes, with K, M, G or T for powers of 1024", f.want.Sizes.Set)
	flags.Func("newer", "changed after that `time`", f.want.Newer.Set)
	flags.Func("older", "changed before that `time`", f.want.Older.Set)
	flags.FuncP("level", "L", "go down at most this many `levels`; 0 is what the command line names", f.depth.Set)
	flags.Func("maxdepth", "the same number of `levels`, as find(1) has it", f.depth.Set)
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

func (f *find) run(cmd *cobra.Command, loc location.Location) error {
	f.ctx, f.loc, f.found = cmd.Context(), loc, nil
	if f.delete {
		return loc.Update(cmd.Context(), &f.Streams, nil, f.remove)
	}
	return loc.View(cmd.Context(), f.search)
}

func (f *find) search(rx *folio.Rx) error {
	w, e, err := listing.Start(f.loc, rx)
	if err != nil {
		return err
	}
	w.Inodes = func(fs.DirEntry) bool { return f.json || f.want.NeedNode() }
	f.walker = w
	return f.visit(&e, 0)
}

// visit judges a file, and the files in it. level counts directories from the argument down.
func (f *find) visit(e *listing.Entry, level int) error {
	if f.want.Meets(e) {
		if f.delete && e.Path != "." {
			f.found = append(f.found, e.Path)
		}
		if err := f.tellFound(e); err != nil {
			return failure.OfOutput(err)
		}
	}
	if !e.Mode.IsDir() || level == int(f.depth) {
		return nil
	}
	if f.ctx.Err() != nil {
		return context.Cause(f.ctx)
	}
	return f.walker.Each(e, func(sub *listing.Entry) error { return f.visit(sub, level+1) })
}

// tellFound prints a file, unless it is only to be deleted.
func (f *find) tellFound(e *listing.Entry) error {
	if f.delete && !f.printed && !f.nul && !f.json {
		return nil
	}
	if f.json {
		return value.WriteJSON(f.Stdout, e.JSON())
	}
	line := f.loc.Display(e.Path) + "\x00"
	if !f.nul {
		line = f.Name(f.loc.Display(e.Path)) + "\n"
	}
	_, err := f.Stdout.WriteString(line)
	return err
}

// remove removes the files that are found, those in a directory before the directory. As with
// find(1), the root stays.
func (f *find) remove(tx *folio.Tx) error {
	if err := f.search(&tx.Rx); err != nil {
		return err
	}
	for _, name := range slices.Backward(f.found) {
		if err := tx.Remove(name); err != nil {
			return f.loc.Failure(name, err)
		}
	}
	return nil
}

// findWords are the flags of folio find that may be written with one dash, as find(1) has them, and
// whether a value follows.
var findWords = map[string]bool{
	"-name": true, "-iname": true, "-type": true, "-size": true, "-newer": true, "-older": true, "-maxdepth": true,
	"-delete": false, "-print": false, "-print0": false,
}

// findArgs gives flags in the spelling of find(1) a second dash. A word after a flag is its value.
func findArgs(args []string) []string {
	if len(args) == 0 || args[0] != "find" {
		return args
	}
	list := make([]string, 0, len(args))
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(list, args[i:]...)
		}
		value, known := findWords[args[i]]
		if !known {
			value = findWords[strings.TrimPrefix(args[i], "-")] // with two dashes already
			list = append(list, args[i])
		} else {
			list = append(list, "-"+args[i])
		}
		if value && i+1 < len(args) {
			i++
			list = append(list, args[i])
		}
	}
	return list
}
