package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	return h, nil
}

// Here describes this machine and directories on it, which are made if need be. source is a directory of the project.
func Here(source string, dirs []string) (m result.Machine, list []result.Dir, err error) {
	for _, dir := range dirs {
		path, err := filepath.Abs(dir)
		if err != nil {
			return m, nil, err
		}
		if err := os.MkdirAll(path, 0o777); err != nil {
			return m, nil, err
		}
		list = append(list, describeDir(path))
	}
	return machine(source), list, nil
}

// look reads the result file, if there is one already: the run goes on where that ends.
func (r *run) look(h *result.Run) error {
	old, err := result.ReadFile(r.o.Out)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if old.Run.Plan != h.Plan {
		return fmt.Errorf("%s: results of another run, by %q; choose another --out, or repeat that command", r.o.Out, old.Run.Command)
	}
	if a, b := old.Run.Machine, h.Machine; a.CPU != b.CPU || a.Cores != b.Cores || a.Go != b.Go {
		return fmt.Errorf("%s: results of another machine or version of Go; choose another --out", r.o.Out)
	}
	r.old, h.ID = old, old.Run.ID
	return nil
}

// open makes the result file, or opens the one that is there, and writes down who takes part in what.
func (r *run) open(h *result.Run) (err error) {
	if r.old == nil {
		if err := os.MkdirAll(filepath.Dir(r.o.Out), 0o777); err != nil {
			return err
		}
		r.out, err = result.Create(r.o.Out)
	} else {
		r.out, err = result.Resume(r.o.Out)
		r.counts.Samples = len(r.old.Samples)
	}
	if err != nil {
		return err
	}
	if err := r.announce(h); err != nil {
		return errors.Join(err, r.out.Close())
	}
	return nil
}

func (r *run) announce(h *result.Run) error {
	records := []result.Record{{Run: h}}
	for _, e := range r.entrants {
		records = append(records, result.Record{Contender: &e.record})
	}
	for _, t := range r.tasks {
		records = append(records, result.Record{Case: &t.record})
		for _, e := range r.entrants {
			if reason := e.able(t); reason != "" {
				r.skips = append(r.skips, result.Skip{Contender: e.record.ID, Workload: t.workload.Name, Case: t.record.ID, Reason: reason})
			}
		}
	}
	for i := range r.skips {
		records = append(records, result.Record{Skip: &r.skips[i]})
	}
	for _, record := range records {
		if err := r.out.Write(record); err != nil {
			return err
		}
	}
	return nil
}
