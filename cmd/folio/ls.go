package main

import (
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/listing"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/value"
	"github.com/foliofs/folio/internal/posix"
)

// An ls is one listing.
type ls struct {
	*command
	long, recursive, human, dir, json bool
	order                             listing.Order

	loc    location.Location
	titled bool // several directories: each gets its name
	begun  bool // something was printed
	walker listing.Walker
}

func (c *command) lsCommand() *cobra.Command {
	l := &ls{command: c}
	cmd := newCommand("ls VOLUME[:PATH]...", "List directories",
		`List directories of a volume, sorted by name, and other files as themselves.

With -l: mode, links, owner and group as numbers, size in bytes, time of the last change, name.
With --json: one object for each file and line, as docs/reference/json.md describes.`,
		`  folio ls goroot.folio
  folio ls -lh goroot.folio:src/io goroot.folio:bin
  folio ls -R --json goroot.folio | jq -r 'select(.size > 1e6).path'`,
		between(1, -1, "VOLUME[:PATH]"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		l.titled = l.recursive || len(args) > 1
		return viewEach(cmd.Context(), args, l.list)
	}
	flags := cmd.Flags()
	flags.BoolVarP(&l.long, "long", "l", false, "tell mode, owner, size and time")
	flags.BoolVarP(&l.recursive, "recursive", "R", false, "list the directories in directories, too")
	flags.BoolVarP(&l.human, "human-readable", "h", false, "with -l, sizes like 1.5K and 20M")
	flags.BoolVarP(&l.dir, "directory", "d", false, "list directories themselves, not what is in them")
	flags.BoolVarP(&l.order.Time, "time", "t", false, "sort by the time of the last change, newest first")
	flags.BoolVarP(&l.order.Size, "size", "S", false, "sort by size, largest first")
	flags.BoolVarP(&l.order.Reverse, "reverse", "r", false, "in reverse order")
	flags.BoolP("all", "a", false, "names that begin with a dot, too: they are always listed")
	flags.BoolP("almost-all", "A", false, "the same")
	flags.BoolP("one", "1", false, "one name on a line: that is always so")
	flags.BoolVar(&l.json, "json", false, "one JSON object for each file")
	plainHelp(cmd)
	return cmd
}

// list lists one argument. A symbolic link to a directory stands for the directory.
func (l *ls) list(loc location.Location, rx *folio.Rx) error {
	w, e, err := listing.Start(loc, rx)
	if err != nil {
		return err
	}
	w.Inodes = func(fs.DirEntry) bool { return l.long || l.json || l.Colors || l.order.NeedNode() }
	l.loc, l.walker = loc, w
	isDir := e.Mode.IsDir()
	if !isDir && !l.long {
		info, err := l.walker.Rx.Stat(l.loc.Path)
		isDir = err == nil && info.IsDir()
	}
	if isDir && !l.dir {
		return l.directory(&e)
	}
	e.Name = l.loc.String()
	return l.print([]listing.Entry{e})
}

// directory lists one directory and, if asked to, those in it.
func (l *ls) directory(dir *listing.Entry) error {
	entries, err := l.walker.List(dir)
	if err != nil {
		return err
	}
	l.order.Sort(entries)
	if l.titled && !l.json {
		l.title(l.loc.Display(dir.Path))
	}
	if err := l.print(entries); err != nil || !l.recursive {
		return err
	}
	for i := range entries {
		if e := &entries[i]; e.Mode.IsDir() {
			if err := l.directory(e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *ls) title(name string) {
	if l.begun {
		fmt.Fprintln(l.Stdout)
	}
	l.begun = true
	fmt.Fprintf(l.Stdout, "%s:\n", l.Name(name))
}

func (l *ls) print(entries []listing.Entry) error {
	switch {
	case l.json:
		for i := range entries {
			if err := value.WriteJSON(l.Stdout, entries[i].JSON()); err != nil {
				return err
			}
		}
	case l.long:
		l.printLong(entries)
	default:
		for i := range entries {
			fmt.Fprintln(l.Stdout, l.colored(&entries[i]))
		}
	}
	l.begun = l.begun || len(entries) > 0
	return nil
}

// printLong aligns the columns among the entries of one directory.
func (l *ls) printLong(entries []listing.Entry) {
	rows := make([][4]string, len(entries))
	var width [4]int
	for i := range entries {
		rows[i] = l.columns(&entries[i])
		for j, s := range rows[i] {
			width[j] = max(width[j], len(s))
		}
	}
	for i := range entries {
		e, row := &entries[i], &rows[i]
		fmt.Fprintf(l.Stdout, "%s %*s %*s %*s %*s %s %s\n", listing.ModeString(e.Mode), width[0], row[0], width[1], row[1],
			width[2], row[2], width[3], row[3], listTime(e.Node.Mtime), l.nameAndTarget(e))
	}
}

// columns are links, owner, group and size.
func (l *ls) columns(e *listing.Entry) [4]string {
	n := &e.Node
	size := l.size(n.Size)
	if e.Mode&fs.ModeDevice != 0 {
		major, minor := posix.DeviceNumbers(n.Rdev)
		size = fmt.Sprintf("%d, %d", major, minor)
	}
	id := func(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
	return [4]string{id(n.Nlink), id(n.UID), id(n.GID), size}
}

func (l *ls) size(n int64) string {
	if l.human {
		return value.HumanSize(n)
	}
	return strconv.FormatInt(n, 10)
}

func (c *command) nameAndTarget(e *listing.Entry) string {
	if e.Mode.Type() == fs.ModeSymlink {
		return c.colored(e) + " -> " + c.Name(e.Target)
	}
	return c.colored(e)
}

// colored is a name for the output, on a terminal in the color that GNU ls gives to the type of the
// file.
func (c *command) colored(e *listing.Entry) string {
	name := c.Name(e.Name)
	if !c.Colors {
		return name
	}
	var color string
	switch mode := e.Mode; {
	case mode.IsDir():
		color = "1;34" // bold blue
	case mode.Type() == fs.ModeSymlink:
		color = "1;36" // bold cyan
	case mode.IsRegular() && mode&0o111 != 0:
		color = "1;32" // bold green
	default:
		return name
	}
	return "\x1b[" + color + "m" + name + "\x1b[m"
}

func listTime(ns int64) string { return time.Unix(0, ns).Format("2006-01-02 15:04") }
