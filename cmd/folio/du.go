package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/inoset"
)

// A du adds up sizes.
type du struct {
	*command
	summary, all, human, json bool
	grand                     bool // print the total of all arguments
	depth                     levels
	loc                       location
	counted                   inoset.Set // files with several names
	walker                    walker
}

// A duTotal counts the files in and below a directory. A file with several names counts at the
// first.
type duTotal struct {
	Bytes int64 `json:"bytes"`
	Files int64 `json:"files"`
}

type duJSON struct {
	jsonPath
	duTotal
}

func (c *command) duCommand() *cobra.Command {
	u := &du{command: c, depth: -1}
	cmd := &cobra.Command{
		Use:   "du VOLUME[:PATH]...",
		Short: "Add up the sizes of files",
		Long: `Add up, for each directory, the bytes of the files in and below it. Holes count nothing, and a file with
several names counts once.

With --json: an object with path, bytes and files for each line.`,
		Example: `  folio du -sh goroot.folio
  folio du -h -L 1 goroot.folio:src`,
		Args:              between(1, -1, "VOLUME[:PATH]"),
		ValidArgsFunction: completeLocation,
		RunE: func(cmd *cobra.Command, args []string) error {
			var all duTotal
			for _, arg := range args {
				u.loc, u.counted = locate(arg), inoset.Set{}
				err := u.loc.view(cmd.Context(), func(rx *folio.Rx) error {
					u.walker = newWalker(u.loc, rx)
					return u.start(&all)
				})
				if err != nil {
					return err
				}
			}
			if u.grand && !u.json {
				fmt.Fprintf(u.stdout, "%s\ttotal\n", u.size(all.Bytes))
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&u.summary, "summarize", "s", false, "the total only")
	flags.BoolVarP(&u.all, "all", "a", false, "tell about each file, too")
	flags.BoolVarP(&u.human, "human-readable", "h", false, "sizes like 1.5K and 20M")
	flags.FuncP("level", "L", "tell about at most this many `levels` of directories", u.depth.Set)
	flags.FuncP("max-depth", "d", "the same number of `levels`, as the system's du has it", u.depth.Set)
	flags.BoolVarP(&u.grand, "total", "c", false, "the total of all arguments, too; not with --json")
	flags.BoolVar(&u.json, "json", false, "one JSON object for each line")
	plainHelp(cmd)
	return cmd
}

// start adds the total of one argument to all.
func (u *du) start(all *duTotal) error {
	if u.summary {
		u.depth = 0
	}
	e, err := entryOf(u.walker.rx, u.loc.path, nil)
	if err != nil {
		return u.loc.failure(u.loc.path, err)
	}
	return u.add(&e, 0, all)
}

// add adds a file or directory, level directories below the one asked for, to all, and prints its
// total if asked to.
func (u *du) add(e *entry, level int, all *duTotal) (err error) {
	var total duTotal
	shown := u.depth < 0 || level <= int(u.depth)
	if e.mode.IsDir() {
		err = u.walker.each(e, func(sub *entry) error { return u.add(sub, level+1, &total) })
	} else {
		total, shown = u.file(e), u.all && shown || level == 0
	}
	all.Bytes += total.Bytes
	all.Files += total.Files
	if err != nil || !shown {
		return err
	}
	return u.print(e, total)
}

func (u *du) file(e *entry) duTotal {
	if e.node.Nlink > 1 && !u.counted.Add(uint64(e.node.Ino)) {
		return duTotal{}
	}
	return duTotal{Bytes: e.node.Size - e.node.Holes, Files: 1}
}

func (u *du) size(n int64) string {
	if u.human {
		return humanSize(n)
	}
	return strconv.FormatInt(n, 10)
}

func (u *du) print(e *entry, total duTotal) error {
	if u.json {
		return writeJSON(u.stdout, duJSON{jsonPathOf(e.path), total})
	}
	_, err := fmt.Fprintf(u.stdout, "%s\t%s\n", u.size(total.Bytes), u.name(u.loc.display(e.path)))
	return err
}
