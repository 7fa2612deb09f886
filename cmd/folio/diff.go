package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio/cmd/folio/internal/compare"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/listing"
	"github.com/foliofs/folio/cmd/folio/internal/patch"
	"github.com/foliofs/folio/cmd/folio/internal/terminal"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/value"
	"github.com/foliofs/folio/internal/posix"
)

// exitTrouble is the exit code of diff, as of diff(1), if something could not be compared.
const exitTrouble = 2

// errNotCompared ends diff if some files could not be compared. A warning has named each.
var errNotCompared = errors.New("some files could not be compared")

// A troubleError is an error that ends diff.
type troubleError struct{ error }

func (e *troubleError) Unwrap() error { return e.error }

// A differ is one comparison.
type differ struct {
	*command
	options            compare.Options
	patch, json, quiet bool

	differs, trouble bool
	progress         *terminal.Progress
	patches          patch.Writer
}

const diffLong = `Tell what differs between A and B. Each is VOLUME[@NAME][:PATH], or a directory or file on disk. The
output has a line for each change, with letters for its kinds, sorted by name at each level:

  A  only B has it            M  another content, target or device
  D  only A has it            P  other attributes: --attributes says which count
  T  another type of file     R  moved, from the first path to the second one

Only files of one volume are known to have moved, by their inodes. A volume as it is now is seen at one
moment. Hard links are compared name by name: two names of one file are like two equal files.

--patch writes what git diff does. A file with a NUL in its first 8000 bytes, or of more than
16 MiB, is binary there, and is only said to differ. With --json: one object for each change and line, as
docs/reference/json.md describes.

The exit code is 0 if nothing differs, 1 if something does, and 2 if something could not be compared. A
file that cannot be read is named, and the rest is compared.`

func (c *command) diffCommand() *cobra.Command {
	d := &differ{command: c}
	d.options.Attributes = compare.Mode | compare.Owner | compare.Xattrs
	cmd := newCommand("diff A B", "Tell what differs between two trees, in volumes or on disk",
		diffLong,
		`  folio diff ~/photos photos.folio
  folio diff --attributes none old.folio new.folio:src
  folio diff photos.folio@monday photos.folio
  folio diff -p site.folio:draft site.folio:public | less`,
		d.checkArgs)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return d.run(cmd.Context(), args[0], args[1]) }
	flags := cmd.Flags()
	flags.BoolVarP(&d.patch, "patch", "p", false, "a patch, which git apply and patch -p1 take")
	flags.BoolVar(&d.json, "json", false, "one JSON object for each change")
	flags.BoolVarP(&d.quiet, "quiet", "q", false, "no output; the exit code says whether something differs")
	flags.Func("attributes", "compare these `attributes`: mode, owner, xattrs (the default), times, with commas; all; none", d.options.Attributes.Set)
	flags.BoolP("recursive", "r", false, "compare directories: that is always so")
	return cmd
}

var errTwoDiffs = errors.New("--patch, --json and --quiet are forms of the output; choose one")

func (d *differ) checkArgs(cmd *cobra.Command, args []string) error {
	forms := 0
	for _, set := range []bool{d.patch, d.json, d.quiet} {
		if set {
			forms++
		}
	}
	if forms > 1 {
		return usageError(cmd, errTwoDiffs)
	}
	return between(2, 2, "A and B")(cmd, args)
}

// errEnough ends a comparison as soon as enough is known: with --quiet, one change is.
var errEnough = errors.New("enough")

func (d *differ) run(ctx context.Context, a, b string) error {
	err := compare.View(ctx, a, b, func(a, b compare.Tree) error {
		d.progress = d.NewProgress("comparing", d.quiet)
		defer d.progress.Done()
		return d.compare(ctx, a, b)
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	if err = cmp.Or(err, outputError(d.Stdout, true)); err != nil {
		return &troubleError{err}
	}
	switch {
	case d.trouble:
		return errNotCompared
	case d.differs:
		return errSilent
	}
	return nil
}

func (d *differ) compare(ctx context.Context, a, b compare.Tree) error {
	d.patches = patch.Writer{Out: d.Stdout, Color: d.Colors}
	d.options.Report = d.report
	d.options.Trouble = d.warn
	d.options.Seen = func(files int, bytes int64) {
		d.progress.AddFiles(files)
		d.progress.AddBytes(bytes)
	}
	err := compare.Run(ctx, a, b, &d.options)
	if err == nil {
		d.progress.Hide()
	}
	return err
}

func (d *differ) warn(err error) {
	d.trouble = true
	d.progress.Hide()
	d.Warn(err)
}

// report writes a change.
func (d *differ) report(c *compare.Change) error {
	d.differs = true
	if d.quiet {
		return errEnough
	}
	if d.OutTerminal {
		d.progress.Hide()
	}
	if err := d.write(c); err != nil {
		return err
	}
	return outputError(d.Stdout, d.OutTerminal)
}

func (d *differ) write(c *compare.Change) error {
	switch {
	case d.patch:
		return d.patches.Write(c)
	case c.WithDir && c.Kind == compare.Moved:
		return nil
	case d.json:
		return writeChangeJSON(d.Stdout, c)
	}
	return writeChange(&d.Streams, c)
}

// outputError returns the error that a buffered output keeps. flush writes the buffer before.
func outputError(out *bufio.Writer, flush bool) error {
	err := error(nil)
	if flush {
		err = out.Flush()
	} else {
		_, err = out.Write(nil)
	}
	if err != nil {
		return failure.OfOutput(err)
	}
	return nil
}

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

// A changeJSON is a change for programs; docs/reference/json.md describes the fields.
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
