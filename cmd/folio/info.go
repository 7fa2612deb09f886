package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/listing"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/value"
	"github.com/foliofs/folio/internal/inoset"
	"github.com/foliofs/folio/pgstore"
)

// An infoJSON is all that info tells.
type infoJSON struct {
	value.JSONPath
	Version   int   `json:"version"`
	Size      int64 `json:"size"`
	PageSize  int   `json:"page_size"`
	ChunkSize int   `json:"chunk_size"`
	Free      int64 `json:"free"`
	Log       int64 `json:"log"`
	Files     int64 `json:"files"`
	Dirs      int64 `json:"directories"`
	Symlinks  int64 `json:"symlinks"`
	Others    int64 `json:"others"`
	Links     int64 `json:"links"`
	Bytes     int64 `json:"bytes"`
	Stored    int64 `json:"stored"`

	SQLite string `json:"sqlite,omitempty"`

	*objectsJSON // nil unless the volume has a bucket
}

func (c *command) infoCommand() *cobra.Command {
	var json bool
	cmd := newCommand("info VOLUME[@SNAPSHOT]", "Describe a volume as a whole",
		`Describe a volume as a whole: its file, its format, and how much it holds. Of a snapshot, the counts are
of what it holds, and all else is of the volume.

With --json: one object; docs/reference/json.md describes it.`,
		"  folio info goroot.folio",
		between(1, 1, "one VOLUME"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		loc, err := location.WholeTree(args[0])
		if err != nil {
			return err
		}
		return c.info(cmd.Context(), loc, json)
	}
	cmd.Flags().BoolVar(&json, "json", false, "one JSON object")
	return cmd
}

func (c *command) info(ctx context.Context, loc location.Location, json bool) error {
	v, err := loc.Open()
	if err != nil {
		return err
	}
	defer v.Close()
	info, err := v.Info(ctx)
	if err != nil {
		return failure.At(loc.Tree(), err)
	}
	i := infoJSON{
		JSONPath: value.JSONPathOf(loc.Tree()), Version: info.Version, Size: info.Size, PageSize: info.PageSize,
		ChunkSize: info.ChunkSize, Free: info.FreeBytes, Log: v.Stats().LogBytes,
		SQLite: info.SQLite,
	}
	if err := v.View(ctx, func(rx *folio.Rx) error { return i.count(ctx, loc, rx) }); err != nil {
		return err
	}
	if objects, err := pgstore.Objects(ctx, v.Volume); err == nil && objects.Bucket != "" {
		i.objectsJSON = (*objectsJSON)(&objects)
	} else if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return failure.At(loc.Tree(), err)
	}
	if brokenReset(info.SQLite) {
		c.Warn(fmt.Errorf("%s: SQLite %s has written to it; versions before 3.51.3 can damage a database in WAL mode that several connections write (their \"WAL-reset bug\"): use a newer one", loc.Tree(), info.SQLite))
	}
	if json {
		return value.WriteJSON(c.Stdout, i)
	}
	c.printInfo(&i)
	return nil
}

// brokenReset reports whether a version of SQLite is from before 3.51.3, which mended the order in
// which a log is begun again while another connection copies it.
func brokenReset(version string) bool {
	var v [3]int
	if n, _ := fmt.Sscanf(version, "%d.%d.%d", &v[0], &v[1], &v[2]); n != len(v) {
		return false
	}
	return slices.Compare(v[:], []int{3, 51, 3}) < 0
}

func (i *infoJSON) count(ctx context.Context, loc location.Location, rx *folio.Rx) error {
	var seen inoset.Set
	return listing.Walk(loc, rx, func(e *listing.Entry) error {
		i.add(e, &seen)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return nil
	})
}

func (i *infoJSON) add(e *listing.Entry, seen *inoset.Set) {
	n := &e.Node
	if !e.Mode.IsDir() && n.Nlink > 1 && !seen.Add(n.Ino) {
		i.Links++
		return
	}
	switch e.Mode.Type() {
	case 0:
		i.Files++
		i.Bytes += n.Size
		i.Stored += n.Size - n.Holes
	case fs.ModeDir:
		if e.Path != "." {
			i.Dirs++
		}
	case fs.ModeSymlink:
		i.Symlinks++
	default:
		i.Others++
	}
}

func (c *command) printInfo(i *infoJSON) {
	row := func(label, format string, args ...any) {
		fmt.Fprintf(c.Stdout, "%-11s "+format+"\n", append([]any{label}, args...)...)
	}
	row("volume", "%s", c.Name(string(i.Path)))
	if location.OnServer(string(i.Path)) {
		row("tables", "version %d", i.Version)
	} else {
		row("format", "%d", i.Version)
	}
	row("size", "%s (%s)", value.BinarySize(i.Size), value.Count(i.Size, "byte", "bytes"))
	row("free in it", "%s", value.BinarySize(i.Free))
	if i.Log > 0 {
		row("in its log", "%s", value.BinarySize(i.Log))
	}
	if i.SQLite != "" {
		row("written by", "SQLite %s", i.SQLite)
	}
	row("page size", "%d", i.PageSize)
	row("chunk size", "%d", i.ChunkSize)
	row("files", "%s", value.Grouped(i.Files))
	row("directories", "%s", value.Grouped(i.Dirs))
	row("symlinks", "%s", value.Grouped(i.Symlinks))
	row("others", "%s", value.Grouped(i.Others))
	row("hard links", "%s", value.Grouped(i.Links))
	row("contents", "%s (%s)", value.BinarySize(i.Bytes), value.Count(i.Bytes, "byte", "bytes"))
	if i.Stored < i.Bytes {
		row("in holes", "%s", value.BinarySize(i.Bytes-i.Stored))
	}
	if o := i.objectsJSON; o != nil {
		row("bucket", "%s", c.Name(o.Bucket))
		row("objects", "%s, %s, %s of contents in them", value.Grouped(o.Objects), value.BinarySize(o.Bytes), value.BinarySize(o.Used))
		row("to sweep", "%s", waiting((*pgstore.ObjectInfo)(o)))
	}
}
