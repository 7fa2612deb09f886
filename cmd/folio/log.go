package main

import (
	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/value"
)

// A versionJSON is a version of a file.
type versionJSON struct {
	value.JSONPath
	Snapshots []value.JSONText `json:"snapshots"`
	Current   bool             `json:"current"`
	Ino       uint64           `json:"ino"`
	Size      int64            `json:"size"`
	Mtime     string           `json:"mtime"`
}

func (c *command) logCommand() *cobra.Command {
	var json bool
	cmd := newCommand("log VOLUME:PATH", "Tell the versions of a file in the snapshots of a volume",
		`Tell the versions of a file that a volume and its snapshots have, the newest first: when it was changed,
its size, and by which name it can be read. States that follow each other and have the same version,
by size, mode, owner and time of the last change, are one line with the name of the newest. A file that was
moved is followed by its inode, and one that was replaced by its name.

With --json: one object for each version and line, with all its snapshots; docs/reference/json.md describes it.`,
		`  folio log letters.folio:may.txt
  folio cat letters.folio@monday:may.txt`,
		between(1, 1, "one VOLUME:PATH"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		loc := location.Parse(args[0])
		if loc.Snapshot != "" {
			return failure.Rehint(failure.At(loc.String(), failure.ErrSnapshotOf), "write "+loc.Live(loc.Path))
		}
		if err := location.HasSnapshots(loc.Volume); err != nil {
			return err
		}
		v, err := loc.Open()
		if err != nil {
			return err
		}
		defer v.Close()
		list, err := v.Versions(cmd.Context(), loc.Path)
		if err != nil {
			return failure.Rehint(loc.Failure(loc.Path, err), "")
		}
		c.printVersions(loc, list, json)
		return nil
	}
	cmd.SuggestFor = []string{"versions", "history"}
	cmd.Flags().BoolVar(&json, "json", false, "one JSON object for each version")
	return cmd
}

func (c *command) printVersions(loc location.Location, list []folio.FileVersion, json bool) {
	width := 0
	for i := range list {
		width = max(width, len(value.Grouped(list[i].Info.Size())))
	}
	for i := range list {
		f := &list[i]
		if loc.Path, loc.Snapshot = f.Path, ""; !f.Current {
			loc.Snapshot = f.Snapshots[len(f.Snapshots)-1].Name
		}
		changed, size := f.Info.ModTime().Format("2006-01-02 15:04:05 -0700"), value.Grouped(f.Info.Size())
		c.list(json, versionOf(f), "%s  %*s  %s\n", changed, width, size, c.Name(loc.String()))
	}
}

func versionOf(f *folio.FileVersion) versionJSON {
	v := versionJSON{
		JSONPath: value.JSONPathOf(f.Path), Snapshots: []value.JSONText{}, Current: f.Current, Ino: location.Inode(f.Info),
		Size: f.Info.Size(), Mtime: value.JSONTime(f.Info.ModTime().UnixNano()),
	}
	for _, s := range f.Snapshots {
		v.Snapshots = append(v.Snapshots, value.JSONText(s.Name))
	}
	return v
}
