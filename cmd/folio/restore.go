package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/value"
)

// A restorer puts files back as they were in a snapshot.
type restorer struct {
	*command
	options              folio.RestoreOptions
	verbose, quiet, json bool

	loc  location.Location
	last folio.RestoreReport // that was seen
}

type restoreJSON struct {
	Snapshot value.JSONText `json:"snapshot"`
	value.JSONPath
	Made    int64 `json:"new"`
	Changed int64 `json:"changed"`
	Removed int64 `json:"removed"`
	Equal   int64 `json:"unchanged"`
	Bytes   int64 `json:"bytes"`
}

const restoreLong = `Put a file, or a directory with all that is in it, back as it was when a snapshot was made. What the
snapshot does not have is removed from the directory. VOLUME@NAME is the whole volume.

It is one transaction: an error or an interruption leaves all as it was. Files that are equal are left
alone, and of others only what differs is written. To be able to undo it, make another snapshot first.
folio cp copies files out of a snapshot next to those that are there.

With -v: a line for each change, when all is done: new, changed or removed, and the path.
With --json: one object; docs/reference/json.md describes it.`

func (c *command) restoreCommand() *cobra.Command {
	r := &restorer{command: c}
	cmd := writingCommand("restore VOLUME@NAME[:PATH]", "Put files back as they were in a snapshot",
		restoreLong,
		`  folio restore photos.folio@before-cleanup:2026/may
  folio snapshot create photos.folio undo && folio restore -v photos.folio@monday
  folio restore --dry-run -v photos.folio@monday`,
		between(1, 1, "one VOLUME@NAME[:PATH]"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if r.loc = location.Parse(args[0]); r.loc.Snapshot == "" {
			return r.noSnapshot()
		}
		return r.run(cmd.Context())
	}
	cmd.SuggestFor = []string{"rollback", "revert", "undo"}
	flags := cmd.Flags()
	flags.BoolVarP(&r.options.DryRun, "dry-run", "n", false, "change nothing, and tell what would be done")
	flags.BoolVarP(&r.verbose, "verbose", "v", false, "name everything that is changed")
	flags.BoolVarP(&r.quiet, "quiet", "q", false, "show neither progress nor summary")
	flags.BoolVar(&r.json, "json", false, "one JSON object")
	return cmd
}

var errNoneNamed = errors.New("names no snapshot")

// noSnapshot is the error of a location that is no snapshot.
func (r *restorer) noSnapshot() error {
	if !location.Exists(r.loc.Volume) {
		return failure.At(r.loc.Volume, failure.ErrNoVolume)
	}
	return failure.Hint(failure.At(r.loc.String(), errNoneNamed), "write VOLUME@NAME, or VOLUME@NAME:PATH")
}

func (r *restorer) run(ctx context.Context) error {
	start := time.Now()
	p := r.NewProgress("restoring", r.quiet || r.json)
	r.options.Progress = func(name string, done folio.RestoreReport) {
		if r.verbose {
			r.say(name, done)
		}
		p.AddFile()
		p.AddBytes(done.Bytes - p.Bytes)
	}
	var report folio.RestoreReport
	err := r.changeVolume(ctx, r.loc.Whole(), func(v *folio.Volume) (err error) {
		report, err = v.Restore(ctx, r.loc.Snapshot, r.loc.Path, &r.options)
		return r.failure(err)
	})
	p.Done()
	if err = r.Tell(err); err != nil || r.quiet {
		return err
	}
	if r.json {
		return value.WriteJSON(r.Stdout, restoreJSON{
			value.JSONText(r.loc.Snapshot), value.JSONPathOf(r.loc.Path),
			report.Made, report.Changed, report.Removed, report.Equal, report.Bytes,
		})
	}
	fmt.Fprintf(r.Stdout, "%s: %s\n", r.Name(r.loc.String()), r.summary(&report, time.Since(start)))
	return nil
}

// say keeps a line of --verbose.
func (r *restorer) say(name string, done folio.RestoreReport) {
	word := ""
	switch {
	case done.Made > r.last.Made:
		word = "new"
	case done.Changed > r.last.Changed:
		word = "changed"
	case done.Removed > r.last.Removed:
		word = "removed"
	}
	if r.last = done; word != "" {
		r.Say("%-7s  %s", word, r.loc.Live(name))
	}
}

// failure names the file in an error: in the volume, or in the snapshot if that has none.
func (r *restorer) failure(err error) error {
	e, ok := errors.AsType[*fs.PathError](err)
	switch {
	case err == nil || !ok || errors.Is(err, folio.ErrReadOnly) || errors.Is(err, folio.ErrFull):
		return err
	case errors.Is(err, folio.ErrNoSnapshot):
		return &fs.PathError{Path: r.loc.Tree(), Err: e.Err}
	case strings.HasSuffix(e.Path, r.loc.String()[len(r.loc.Volume):]): // of the snapshot
		return &fs.PathError{Path: r.loc.String(), Err: e.Err}
	}
	return &fs.PathError{Path: r.loc.Live(path.Clean(e.Path)), Err: e.Err}
}

func (r *restorer) summary(done *folio.RestoreReport, took time.Duration) string {
	counts := []counted{{done.Made, "new"}, {done.Changed, "changed"}, {done.Removed, "removed"}, {done.Equal, unchanged}}
	return summary(r.options.DryRun, counts, fmt.Sprintf("%s written in %.2f s", value.BinarySize(done.Bytes), took.Seconds()))
}
