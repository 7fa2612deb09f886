package main

import (
	"io"

	"github.com/foliofs/folio/cmd/folio/internal/compare"
	"github.com/foliofs/folio/cmd/folio/internal/listing"
	"github.com/foliofs/folio/cmd/folio/internal/terminal"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/value"
	"github.com/foliofs/folio/internal/posix"
)

// writeChange writes a change as a line: letters and paths, with tabs between them. A path of a
// directory ends in a slash.
func writeChange(s *terminal.Streams, c *compare.Change) error {
	kind := c.Kind
	if c.WithDir {
		kind &^= compare.Moved
	}
	line := kind.Letters() + "\t"
	if kind&compare.Moved != 0 {
		line += s.Name(withSlash(c.Old.Name, c.Old)) + "\t"
	}
	file := c.New
	if file == nil {
		file = c.Old
	}
	_, err := s.Stdout.WriteString(line + s.Name(withSlash(c.Path, file)) + "\n")
	return err
}

func withSlash(path string, f *compare.File) string {
	if f.IsDir() && path != "." {
		return path + "/"
	}
	return path
}

// A changeJSON is a change for programs; docs/howto/command.md describes the fields.
type changeJSON struct {
	value.JSONPath
	OldPath    *value.JSONText `json:"old_path,omitempty"`
	Changes    []string        `json:"changes"`
	Attributes []string        `json:"attributes,omitempty"`
	Old        *sideJSON       `json:"old,omitempty"`
	New        *sideJSON       `json:"new,omitempty"`
}

// A sideJSON is a file in one of the trees.
type sideJSON struct {
	Type   string          `json:"type"`
	Mode   string          `json:"mode"`
	UID    uint32          `json:"uid"`
	GID    uint32          `json:"gid"`
	Size   int64           `json:"size"`
	MTime  string          `json:"mtime"`
	Target *value.JSONText `json:"target,omitempty"`
}

func writeChangeJSON(w io.Writer, c *compare.Change) error {
	j := changeJSON{
		JSONPath: value.JSONPathOf(c.Path), Changes: c.Kind.Words(), Attributes: c.Attributes.Words(),
		Old: sideOf(c.Old), New: sideOf(c.New),
	}
	if c.Kind&compare.Moved != 0 {
		j.OldPath = (*value.JSONText)(&c.Old.Name)
	}
	return value.WriteJSON(w, j)
}

func sideOf(f *compare.File) *sideJSON {
	if f == nil {
		return nil
	}
	mode, _ := posix.Mode(f.Mode)
	j := &sideJSON{
		Type: listing.TypeOf(f.Mode).Name, Mode: listing.OctalMode(mode), UID: f.UID, GID: f.GID,
		Size: f.Size, MTime: value.JSONTime(tree.Nanoseconds(f.ModTime)),
	}
	if f.Linkname != "" {
		j.Target = (*value.JSONText)(&f.Linkname)
	}
	return j
}
