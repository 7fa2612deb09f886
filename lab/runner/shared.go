package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/foliofs/folio/lab/result"
	"github.com/foliofs/folio/lab/workload"
)

// makers are who makes the shared databases, best first: SQLite in C, then in Go.
var makers = []string{"mattn", "ncruces", "modernc"}

// share makes the databases that the tasks need and that are not there yet. They stay for the next run.
func (r *run) share(ctx context.Context) error {
	for _, t := range r.tasks {
		if t.workload.Database == nil {
			continue
		}
		f := t.workload.Database(t.values)
		t.db = filepath.Join(t.dir, storesDir, f.Name())
		if _, err := os.Stat(t.db); err == nil {
			continue
		}
		if err := r.makeFolder(ctx, f, t.db); err != nil {
			return fmt.Errorf("%s: %w", t.db, err)
		}
	}
	return nil
}

// room refuses a run whose shared databases have no place, before anything is built.
func (r *run) room() error {
	for _, t := range r.tasks {
		if t.workload.Database == nil {
			continue
		}
		f := t.workload.Database(t.values)
		if _, err := os.Stat(filepath.Join(t.dir, storesDir, f.Name())); err == nil {
			continue
		}
		if free := freeBytes(t.dir); free >= 0 && free < f.Bytes() {
			return fmt.Errorf("%s: a database of %d rows needs %d MB, there are %d MB free; choose another directory with --dirs, or fewer --lookup.rows", t.dir, f.Rows, f.Bytes()>>20, free>>20)
		}
	}
	return nil
}

var errNoMaker = errors.New("no contender that takes part can make a database; take mattn, ncruces or modernc in")

// makeFolder makes a database, whole or not at all.
func (r *run) makeFolder(ctx context.Context, f *workload.Folder, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	e := r.maker()
	if e == nil {
		return errNoMaker
	}
	tmp := path + ".tmp"
	if err := os.RemoveAll(tmp); err != nil {
		return err
	}
	if err := r.ask(ctx, e, &workload.Make{Folder: *f, Path: tmp}); err != nil {
		return errors.Join(err, os.RemoveAll(tmp))
	}
	return os.Rename(tmp, path)
}

// maker is who makes the shared database: the first of the makers, or else anybody who can; nil if nobody can.
func (r *run) maker() *entrant {
	for _, name := range append(slices.Clip(makers), "") {
		for _, e := range r.entrants {
			if e.about.Makes && (name == "" || e.record.Name == name) {
				return e
			}
		}
	}
	return nil
}

func (r *run) ask(ctx context.Context, e *entrant, m *workload.Make) error {
	p, err := start(ctx, r.o.Timeout, e.program.path, e.program.args...)
	if err != nil {
		return err
	}
	p.tell(workload.Request{Make: m})
	for {
		reply, err := p.reply()
		switch {
		case err != nil:
			return withStderr(p.end(err), p)
		case reply.Done != nil:
			return p.end(nil)
		case reply.Rows != nil:
			r.o.Observer.Making(*reply.Rows, m.Folder.Rows)
		default:
			return p.end(&failure{result.FailureGarbage, errors.New("it did not say how far it is")})
		}
	}
}
