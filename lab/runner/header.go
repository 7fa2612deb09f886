package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/foliofs/folio/lab/result"
)

// header describes the run and where it takes place.
func (r *run) header() (*result.Run, error) {
	now := time.Now().UTC()
	h := &result.Run{
		Format: result.Format, ID: now.Format("20060102-150405.000"), Started: now, Command: r.o.Command,
		Rounds: r.o.Rounds, Quick: r.o.Quick, Seed: r.o.Seed,
	}
	var err error
	if h.Machine, h.Dirs, err = Here(r.o.Source, r.o.Dirs); err != nil {
		return nil, err
	}
	if load := h.Machine.Load; load != nil && *load > 0.5 {
		h.Warnings = append(h.Warnings, fmt.Sprintf("the machine was busy when the run began: load %.1f", *load))
	}
	for _, d := range h.Dirs {
		if w := d.Warning(); w != "" {
			h.Warnings = append(h.Warnings, w)
		}
	}
	return h, nil
}

// Here describes this machine and directories on it, which are made if need be. source is a
// directory of the project.
func Here(source string, dirs []string) (m result.Machine, list []result.Dir, err error) {
	for _, dir := range dirs {
		path, err := filepath.Abs(dir)
		if err != nil {
			return m, nil, err
		}
		if err := os.MkdirAll(path, 0o777); err != nil {
			return m, nil, fmt.Errorf("%w; choose another directory with --dirs", err)
		}
		list = append(list, describeDir(path))
	}
	return machine(source), list, nil
}

// look reads the result file, if there is one already: the run goes on where that ends.
func (r *run) look(h *result.Run) error {
	if r.o.Resume != "" {
		var err error
		if r.o.Out, err = interrupted(r.o.Resume, h.Plan); err != nil {
			return err
		}
	}
	old, err := result.ReadFile(r.o.Out)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w; choose another --out", err)
	}
	if old.Run.Plan != h.Plan {
		return fmt.Errorf("%s: results of another run, by %q; choose another --out, or repeat that command", r.o.Out, old.Run.Command)
	}
	if a, b := old.Run.Machine, h.Machine; a.CPU != b.CPU || a.Cores != b.Cores || a.Go != b.Go {
		return fmt.Errorf("%s: results of another machine or version of Go; choose another --out", r.o.Out)
	}
	r.old, h.ID = old, old.Run.ID
	r.counts.Samples, r.counts.Failures = len(old.Samples), len(old.Failures)
	return nil
}

// interrupted is the newest file of results in a directory that has no end, and the same plan.
func interrupted(dir, plan string) (string, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return "", err
	}
	slices.Sort(names)
	other := ""
	for _, name := range slices.Backward(names) {
		s, err := result.ReadFile(name)
		switch {
		case err != nil || s.End != nil && !s.End.Interrupted:
			continue
		case s.Run.Plan == plan:
			return name, nil
		case other == "":
			other = fmt.Sprintf("; %s was, by %s, to which --resume can be added", name, s.Run.Command)
		}
	}
	return "", fmt.Errorf("no run of this command in %s was interrupted; leave --resume out to start one%s", dir, other)
}

// open makes the result file, or opens the existing one, before the long work begins. So an error
// in the file shows at once.
func (r *run) open(h *result.Run) (err error) {
	if err := r.look(h); err != nil {
		return err
	}
	if r.old != nil {
		r.out, err = result.Resume(r.o.Out)
	} else if err = os.MkdirAll(filepath.Dir(r.o.Out), 0o777); err == nil {
		r.out, err = result.Create(r.o.Out)
	}
	if err != nil {
		return fmt.Errorf("%w; choose another --out", err)
	}
	if r.old == nil {
		if err := r.write(result.Record{Run: h}); err != nil {
			return errors.Join(err, r.out.Remove())
		}
	}
	return nil
}

// write adds to the results.
func (r *run) write(record result.Record) error {
	if err := r.out.Write(record); err != nil {
		return fmt.Errorf("%w; the records before it are whole: make room, and continue with --resume", err)
	}
	return nil
}

// close ends the results. A run that went through, or was interrupted, gets a record that says so.
// A new file is removed if the user's request was wrong, so that nothing was begun.
func (r *run) close(ctx context.Context, failed error) error {
	stopped := ctx.Err() != nil
	if failed != nil && !stopped {
		if r.old == nil && !r.announced {
			return r.out.Remove()
		}
		return r.out.Close()
	}
	r.counts.Ended, r.counts.Interrupted = time.Now().UTC(), stopped
	return errors.Join(r.write(result.Record{End: &r.counts}), r.out.Close())
}

// announce records the contenders and their cases. In a file that is resumed, it first records the
// resumption.
func (r *run) announce(h *result.Run) error {
	var records []result.Record
	if r.old != nil {
		records = append(records, result.Record{Run: h})
	}
	for _, e := range r.participants {
		records = append(records, result.Record{Contender: &e.record})
	}
	for _, t := range r.tasks {
		records = append(records, result.Record{Case: &t.Case})
	}
	for i := range r.skips {
		records = append(records, result.Record{Skip: &r.skips[i]})
	}
	for _, record := range records {
		if err := r.write(record); err != nil {
			return err
		}
	}
	r.announced = true
	return nil
}
