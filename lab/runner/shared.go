package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/foliofs/folio/lab/workload"
)

// makers make the shared databases, the best first: SQLite in C, then in Go.
var makers = []string{"mattn", "ncruces", "modernc"}

// share makes the databases that the tasks need and that are not there yet. They stay for the next
// run.
func (r *run) share(ctx context.Context) error {
	defer timed(&r.counts.Making)()
	for _, t := range r.tasks {
		if t.workload.Database == nil {
			continue
		}
		f := t.workload.Database(t.Values())
		t.db = filepath.Join(t.Dir, storesDir, f.Name())
		if _, err := os.Stat(t.db); err == nil {
			continue
		}
		if err := r.makeFolder(ctx, t, f); err != nil {
			return fmt.Errorf("%s: %w", t.db, err)
		}
	}
	return nil
}

var errNoMaker = errors.New("no contender that takes part can make a database; take mattn, ncruces or modernc in")

// makeFolder makes a database, whole or not at all.
func (r *run) makeFolder(ctx context.Context, t *task, f *workload.Folder) error {
	e := r.maker()
	if e == nil {
		return errNoMaker
	}
	dir, err := r.scratch[t.Dir].store()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	made := filepath.Join(dir, f.Name())
	request := workload.Request{Make: &workload.Make{Folder: *f, Path: made}}
	err = r.consult(ctx, e.program, request, func(reply *workload.Reply) (more bool, err error) {
		switch {
		case reply.Done != nil:
			return false, nil
		case reply.Rows == nil:
			return false, garbage("it did not report its progress")
		}
		r.o.Observer.Progress(Making, "rows", *reply.Rows, f.Rows)
		return true, nil
	})
	if err != nil {
		return err
	}
	return os.Rename(made, t.db)
}

// maker returns the participant that makes the shared database: the first of the makers, or else
// any participant that can; nil if there is none.
func (r *run) maker() *participant {
	for _, name := range append(slices.Clip(makers), "") {
		for _, e := range r.participants {
			if e.about.Makes && (name == "" || e.record.Name == name) {
				return e
			}
		}
	}
	return nil
}
