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

// Options of a measurement.
type Options struct {
	Claims  []*Claim
	Samples int  // of each figure
	Quick   bool // smaller sizes
	Resume  bool // continue the measurement in Out
	Dirs    []string
	Project string // its directory
	Cache   string // a directory for programs
	Out     string // a directory for samples
	Command string // that measures the same again
	Timeout time.Duration
	Watch   Observer
}

// An Observer is told how far a run is.
type Observer interface {
	// Measuring reports the next step of a source, and how many of all its steps are done.
	Measuring(source, what string, done, all int)
	// Judged tells the verdict of a claim as soon as its source has been measured.
	Judged(c *Claim, r *Result)
	// Note tells that something went wrong, in a line.
	Note(text string)
	// Ended tells that nothing more comes.
	Ended()
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
	old, err := readHeader(r.headerFile())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if left, _ := os.ReadDir(r.Out); len(left) > 0 {
			return fmt.Errorf("%s: it does not hold samples, and would be emptied; choose another --out", r.Out)
		}
		return h.write(r.headerFile())
	case !r.Resume:
		if err := os.RemoveAll(r.Out); err != nil {
			return err
		}
		return h.write(r.headerFile())
	case err != nil:
		return err
	}
	h.Started = old.Started
	return old.same(h)
}

func (r *run) headerFile() string { return filepath.Join(r.Out, "header.json") }
