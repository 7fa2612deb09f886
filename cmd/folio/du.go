package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/listing"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/value"
	"github.com/foliofs/folio/internal/inoset"
)

// A du adds up sizes.
type du struct {
	*command
	summary, all, human, json bool
	grand                     bool // print the total of all arguments
	depth                     value.Levels
	loc                       location.Location
	counted                   inoset.Set // files with several names
	walker                    listing.Walker
}

// A duTotal counts the files in and below a directory. A file with several names counts at the
// first.
type duTotal struct {
	Bytes int64 `json:"bytes"`
	Files int64 `json:"files"`
}

type duJSON struct {
	value.JSONPath
	duTotal
}

func (c *command) duCommand() *cobra.Command {
	u := &du{command: c, depth: -1}
	cmd := newCommand("du VOLUME[:PATH]...", "Add up the sizes of files",
		`Add up, for each directory, the bytes of the files in and below it. Holes count nothing, and a file with
several names counts once.

With --json: an object with path, bytes and files for each line.`,
		`  folio du -sh goroot.folio
  folio du -h -L 1 goroot.folio:src`,
		between(1, -1, "VOLUME[:PATH]"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var all duTotal
		err := viewEach(cmd.Context(), args, func(loc location.Location, rx *folio.Rx) error {
			u.loc, u.counted = loc, inoset.Set{}
			return u.start(rx, &all)
		})
		if err == nil && u.grand && !u.json {
			fmt.Fprintf(u.Stdout, "%s\ttotal\n", u.size(all.Bytes))
		}
		return err
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
func (u *du) start(rx *folio.Rx, all *duTotal) error {
	if u.summary {
		u.depth = 0
	}
	w, e, err := listing.Start(u.loc, rx)
	if err != nil {
		return err
	}
	u.walker = w
	return u.add(&e, 0, all)
}

// add adds a file or directory, level directories below the one asked for, to all, and prints its
// total if asked to.
func (u *du) add(e *listing.Entry, level int, all *duTotal) (err error) {
	var total duTotal
	shown := u.depth < 0 || level <= int(u.depth)
	if e.Mode.IsDir() {
		err = u.walker.Each(e, func(sub *listing.Entry) error { return u.add(sub, level+1, &total) })
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

func (u *du) file(e *listing.Entry) duTotal {
	if e.Node.Nlink > 1 && !u.counted.Add(uint64(e.Node.Ino)) {
		return duTotal{}
	}
	return duTotal{Bytes: e.Node.Size - e.Node.Holes, Files: 1}
}

func (u *du) size(n int64) string {
	if u.human {
		return value.HumanSize(n)
	}
	return strconv.FormatInt(n, 10)
}

func (u *du) print(e *listing.Entry, total duTotal) error {
	if u.json {
		return value.WriteJSON(u.Stdout, duJSON{value.JSONPathOf(e.Path), total})
	}
	_, err := fmt.Fprintf(u.Stdout, "%s\t%s\n", u.size(total.Bytes), u.Name(u.loc.Display(e.Path)))
	return err
}
