package claim

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/foliofs/folio/lab/runner"
)

// A Source takes samples.
type Source interface {
	// ID is the name of the source's files, and names it while it works.
	ID() string
	// measure takes those samples that are not in the files of the run yet, and returns all.
	measure(ctx context.Context, r *run) (*outcome, error)
}

// An outcome is the result of a source.
type outcome struct {
	samples Samples
	why     func(name string) string // there are no samples of a name
}

// unmeasured is the outcome of a source that failed.
func unmeasured(err error) *outcome {
	reason := runner.OneLine([]byte(err.Error()))
	return &outcome{why: func(string) string { return reason }}
}

// Options of a measurement.
type Options struct {
	Claims  []*Claim
	Samples int  // of each figure
	Quick   bool // smaller sizes
	Resume  bool // continue the measurement in Out
	Dirs    []string
	Project string // its directory
	Cache   string // a directory for programs
	Server  string // address of a database of PostgreSQL; "" if a source starts a server
	Out     string // a directory for samples
	Command string // that measures the same again
	Timeout time.Duration
	Watch   Observer
}

// An Observer shows how far a run is.
type Observer interface {
	runner.Observer
	// Judged tells the verdict of a claim as soon as its source has been measured.
	Judged(c *Claim, r *Result)
}

// progress reports the next step of a source, and how many of all its steps are done.
func (r *run) progress(source, next string, done, all int) {
	r.Watch.Progress("measuring "+source, next, done, all)
}

// A run is one measurement of claims.
type run struct{ *Options }

// file is where a source keeps its samples.
func (r *run) file(source, suffix string) string { return filepath.Join(r.Out, source+suffix) }

// contenders is the directory of those.
func (r *run) contenders() string { return filepath.Join(r.Project, "lab", "contender") }

// bin is where a program is built to.
func (r *run) bin(name string) string { return filepath.Join(r.Cache, "bin", name) }

// scratch makes a directory on the first file system, for sources that work on files there.
func (r *run) scratch() (*runner.Scratch, error) { return runner.NewScratch(r.Dirs[0]) }

// prepare makes the directory of samples: an empty one, or the existing one if it is of the same
// run.
func (r *run) prepare(h *Header) error {
	path := filepath.Join(r.Out, "header.json")
	var old Header
	err := readJSON(path, &old)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if left, _ := os.ReadDir(r.Out); len(left) > 0 {
			return fmt.Errorf("%s: it does not hold samples, and would be emptied; choose another --out", r.Out)
		}
		return writeJSON(path, h)
	case !r.Resume:
		if err := os.RemoveAll(r.Out); err != nil {
			return err
		}
		return writeJSON(path, h)
	case err != nil:
		return err
	}
	h.Started = old.Started
	return old.same(h)
}
