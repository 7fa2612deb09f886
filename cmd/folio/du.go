package main

import (
	"fmt"
	"path"
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
	rx                        *folio.Rx
	counted                   inoset.Set // files with several names
	guard                     walkGuard
	apparent, silent          bool // count holes, too; print nothing
}

// A duTotal is what lies in and below a directory. A file with several names counts where it is met first.
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
				u.loc, u.counted, u.guard = locate(arg), inoset.Set{}, walkGuard{}
				err := u.loc.view(cmd.Context(), func(rx *folio.Rx) error {
					u.rx = rx
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
	flags.VarP(&u.depth, "level", "L", "tell about at most this many `levels` of directories")
	flags.VarP(&u.depth, "max-depth", "d", "the same, as the system's du has it")
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
	total, err := u.total()
	all.Bytes += total.Bytes
	all.Files += total.Files
	return err
}

// total adds up all there is at the location.
func (u *du) total() (duTotal, error) {
	e, err := entryOf(u.rx, u.loc.path, nil)
	if err != nil {
		return duTotal{}, u.loc.failure(u.loc.path, err)
	}
	return u.add(&e, 0)
}

// add returns the total of a file or directory, level directories below the one asked for, and prints it if asked to.
func (u *du) add(e *entry, level int) (total duTotal, err error) {
	if !e.mode.IsDir() {
		if total = u.file(e); u.all && u.shown(level) || level == 0 {
			err = u.print(e, total)
		}
		return total, err
	}
	if err := u.guard.enterInode(uint64(e.node.Ino)); err != nil {
		return total, u.loc.failure(e.path, err)
	}
	if total, err = u.directory(e, level); err != nil || !u.shown(level) {
		return total, err
	}
	return total, u.print(e, total)
}

func (u *du) shown(level int) bool { return u.depth < 0 || level <= int(u.depth) }

func (u *du) directory(dir *entry, level int) (total duTotal, err error) {
	list, err := u.rx.ReadDir(dir.path)
	if err != nil {
		return total, u.loc.failure(dir.path, err)
	}
	for _, d := range list {
		e, err := entryOf(u.rx, path.Join(dir.path, d.Name()), d)
		if err != nil {
			return total, u.loc.failure(path.Join(dir.path, d.Name()), err)
		}
		sub, err := u.add(&e, level+1)
		if err != nil {
			return total, err
		}
		total.Bytes += sub.Bytes
		total.Files += sub.Files
	}
	return total, nil
}

func (u *du) file(e *entry) duTotal {
	if e.node.Nlink > 1 && !u.counted.Add(uint64(e.node.Ino)) {
		return duTotal{}
	}
	if u.apparent {
		return duTotal{Bytes: e.node.Size, Files: 1}
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
	if u.silent {
		return nil
	}
	if u.json {
		return writeJSON(u.stdout, duJSON{jsonPath{jsonText(e.path)}, total})
	}
	_, err := fmt.Fprintf(u.stdout, "%s\t%s\n", u.size(total.Bytes), u.name(u.loc.display(e.path)))
	return err
}
