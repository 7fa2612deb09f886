package main

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/listing"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/value"
	"github.com/foliofs/folio/internal/posix"
)

func (c *command) statCommand() *cobra.Command {
	var json bool
	cmd := newCommand("stat VOLUME[:PATH]...", "Tell all about files",
		`Tell all that a volume knows about files. A symbolic link is told about itself.

With --json: one object for each file and line, as docs/reference/json.md describes.`,
		`  folio stat goroot.folio:VERSION
  folio stat --json goroot.folio:src goroot.folio:bin/go | jq .mtime`,
		between(1, -1, "VOLUME[:PATH]"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		first := true
		return viewEach(cmd.Context(), args, func(loc location.Location, rx *folio.Rx) error {
			if !first && !json {
				fmt.Fprintln(c.Stdout)
			}
			first = false
			return c.stat(loc, rx, json)
		})
	}
	cmd.Flags().BoolVar(&json, "json", false, "one JSON object for each file")
	return cmd
}

func (c *command) stat(loc location.Location, rx *folio.Rx, json bool) error {
	e, err := listing.Of(rx, loc.Path, nil)
	if err == nil {
		e.Xattrs, err = rx.Xattrs(loc.Path)
	}
	if err != nil {
		return loc.Failure(loc.Path, err)
	}
	if json {
		return value.WriteJSON(c.Stdout, e.JSON())
	}
	e.Name = loc.String()
	c.printStat(&e)
	return nil
}

func (c *command) printStat(e *listing.Entry) {
	n := &e.Node
	row := func(label, format string, args ...any) {
		fmt.Fprintf(c.Stdout, "%-9s "+format+"\n", append([]any{label}, args...)...)
	}
	row("path", "%s", c.nameAndTarget(e))
	row("type", "%s", listing.TypeOf(e.Mode).Name)
	switch {
	case e.Mode&fs.ModeDevice != 0:
		major, minor := posix.DeviceNumbers(n.Rdev)
		row("device", "%d, %d", major, minor)
	case n.Holes > 0:
		row("size", "%s, %s of them in holes", value.Count(n.Size, "byte", "bytes"), value.Grouped(n.Holes))
	case !e.Mode.IsDir():
		row("size", "%s", value.Count(n.Size, "byte", "bytes"))
	}
	row("mode", "%s %s", listing.OctalMode(n.Mode), listing.ModeString(e.Mode))
	row("owner", "%d:%d", n.UID, n.GID)
	row("inode", "%d, %s", n.Ino, value.Count(int64(n.Nlink), "link", "links"))
	row("modified", "%s", statTime(n.Mtime))
	row("changed", "%s", statTime(n.Ctime))
	row("accessed", "%s", statTime(n.Atime))
	for _, name := range slices.Sorted(maps.Keys(e.Xattrs)) {
		row("attribute", "%s=%s", c.Name(name), strconv.Quote(string(e.Xattrs[name])))
	}
}

func statTime(ns int64) string { return time.Unix(0, ns).Format("2006-01-02 15:04:05.000000000 -0700") }
