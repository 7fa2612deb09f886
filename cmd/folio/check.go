package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/quote"
	"github.com/foliofs/folio/cmd/folio/internal/value"
)

func (c *command) checkCommand() *cobra.Command {
	var json, repair bool
	cmd := writingCommand("check VOLUME", "Look for damage, and repair it",
		`Look for contradictions in the whole volume: in the b-trees of its database, and among names, inodes
and contents.

Each problem is a line of the output, and the exit code is 1 if there is one. With --json: one object;
docs/reference/json.md describes it.

With --repair, problems that can be fixed without losing content are fixed first, all of them or none.
Each repair is a line. Files that have no name are put into the directory lost+found. Other problems
need a decision, which the lines name. A volume that sqlite3 dumped and restored has lost two numbers
of its header. They are set again.`,
		`  folio check goroot.folio && echo all is well
  folio check --repair tampered.folio`,
		between(1, 1, "one VOLUME"))
	onVolume(cmd, func(ctx context.Context, loc location.Location) error { return c.check(ctx, loc, repair, json) })
	cmd.Flags().BoolVar(&repair, "repair", false, "fix problems that can be fixed without losing content")
	cmd.Flags().BoolVar(&json, "json", false, "one JSON object")
	return cmd
}

type checkJSON struct {
	value.JSONPath
	OK       bool          `json:"ok"`
	Repairs  []repairJSON  `json:"repairs,omitempty"`
	More     int           `json:"more_repairs,omitempty"`
	Problems []problemJSON `json:"problems"`
	Omitted  int           `json:"omitted"`
	Nodes    int64         `json:"inodes"`
	Entries  int64         `json:"entries"`
	Chunks   int64         `json:"chunks"`
	Xattrs   int64         `json:"xattrs"`
	Bytes    int64         `json:"bytes"`
}

type problemJSON struct {
	Ino  uint64         `json:"ino,omitempty"`
	File value.JSONText `json:"file,omitempty"`
	What value.JSONText `json:"what"`
}

func problemObject(p folio.Problem) problemJSON {
	return problemJSON{p.Ino, value.JSONText(p.Path), value.JSONText(p.What)}
}

type repairJSON struct {
	problemJSON
	Done value.JSONText `json:"done"`
}

func (c *command) check(ctx context.Context, loc location.Location, repair, json bool) error {
	volume := loc.Volume
	report, err := c.checked(ctx, loc, repair)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil && json {
		_ = value.WriteJSON(c.Stdout, failedCheck(volume, err))
	}
	if err != nil {
		return err
	}
	if json {
		err = value.WriteJSON(c.Stdout, checkObject(volume, report))
	} else {
		c.printCheck(volume, report)
	}
	if err == nil && !report.OK() {
		err = errSilent
	}
	return err
}

// checked opens and checks a volume, and repairs it first if that is wanted. It returns an
// error if it cannot.
func (c *command) checked(ctx context.Context, loc location.Location, repair bool) (*folio.RepairReport, error) {
	if repair {
		if err := location.InFile(loc.Volume, "folio check without --repair names the problems"); err != nil {
			return nil, err
		}
	}
	v, err := loc.Open()
	var schema []folio.Repair
	if repair && err != nil { // its schema may be all that is damaged
		var failed error
		if schema, failed = folio.RepairSchema(ctx, loc.Volume); len(schema) > 0 {
			v, err = loc.Open()
		} else if failed != nil && failure.NamesWayOut(err) { // that was the way out
			err = failure.At(loc.Volume, failed)
		}
	}
	if err != nil {
		return nil, failure.OfCheck(err)
	}
	defer v.Close()
	if repair {
		report, err := v.Repair(ctx)
		if err == nil {
			report.Repairs = append(schema, report.Repairs...)
		}
		return report, failure.OfCheck(failure.At(loc.Volume, err))
	}
	p := c.NewProgress("checking", false)
	defer p.Done()
	report, err := v.Check(ctx, &folio.CheckOptions{Progress: p.Set})
	if err != nil {
		return nil, failure.OfCheck(failure.At(loc.Volume, err))
	}
	return &folio.RepairReport{CheckReport: *report}, nil
}

// failedCheck is the report of a volume that is too damaged to be checked, or cannot be read at
// all.
func failedCheck(volume string, err error) checkJSON {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return checkJSON{JSONPath: value.JSONPathOf(volume), Problems: []problemJSON{{What: value.JSONText(failure.Cause(err))}}}
}

func checkObject(volume string, r *folio.RepairReport) checkJSON {
	j := checkJSON{
		JSONPath: value.JSONPathOf(volume), OK: r.OK(), Problems: []problemJSON{}, Omitted: r.Omitted,
		Nodes: r.Nodes, Entries: r.Entries, Chunks: r.Chunks, Xattrs: r.Xattrs, Bytes: r.Bytes, More: r.More,
	}
	for _, p := range r.Repairs {
		j.Repairs = append(j.Repairs, repairJSON{problemObject(p.Problem), value.JSONText(p.Done)})
	}
	for _, p := range r.Problems {
		j.Problems = append(j.Problems, problemObject(p))
	}
	return j
}

func (c *command) printCheck(volume string, r *folio.RepairReport) {
	for _, p := range r.Repairs {
		p.What += "; repaired: " + p.Done
		c.printProblem(volume, p.Problem)
	}
	if r.More > 0 {
		fmt.Fprintf(c.Stdout, "%s: and %s\n", c.Name(volume), value.Count(int64(r.More), "repair more", "repairs more"))
	}
	for _, p := range r.Problems {
		c.printProblem(volume, p)
	}
	if r.Omitted > 0 {
		fmt.Fprintf(c.Stdout, "%s: and %s\n", c.Name(volume), value.Count(int64(r.Omitted), "problem more", "problems more"))
	}
	if r.OK() {
		fmt.Fprintf(c.Stdout, "%s: ok: %s, %s, %s of contents\n", c.Name(volume), value.Count(r.Entries, "name", "names"),
			value.Count(r.Nodes, "inode", "inodes"), value.BinarySize(r.Bytes))
	}
}

func (c *command) printProblem(volume string, p folio.Problem) {
	at := location.Root(volume)
	if p.Path != "" {
		at.Path = p.Path
	}
	if p.Ino != 0 {
		p.What = fmt.Sprintf("inode %d: %s", p.Ino, p.What)
	}
	fmt.Fprintf(c.Stdout, "%s: %s\n", c.Name(at.String()), quote.Escape(p.What))
}
