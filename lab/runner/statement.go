package runner

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/foliofs/folio/lab/result"
	"github.com/foliofs/folio/lab/workload"
)

// A Statement is the user's own query.
type Statement struct {
	DB       string
	SQL      string
	ArgsFrom string // a query whose rows are the arguments; "" if there are none
	Limit    int    // of these rows
}

// Check refuses all errors that can be found before anything is built.
func (s *Statement) Check() error {
	if err := checkDatabase(s.DB); err != nil {
		return err
	}
	q, err := parseQuery(s.SQL)
	if err != nil {
		return fmt.Errorf("--query: %w", err)
	}
	switch {
	case s.ArgsFrom == "" && q.params > 0:
		return fmt.Errorf("--query has %d parameters: --args-from must give their values", q.params)
	case s.ArgsFrom == "":
		return nil
	case q.params == 0:
		return errors.New("--query has no parameter for the columns of --args-from: write ? in their place")
	case s.Limit < 1:
		return fmt.Errorf("--args %d: it takes a number above 0", s.Limit)
	}
	from, err := parseQuery(s.ArgsFrom)
	if err == nil && from.params > 0 {
		err = errors.New("it has parameters, for which there are no arguments")
	}
	if err != nil {
		return fmt.Errorf("--args-from: %w", err)
	}
	return nil
}

// describe adds the statement to the cases.
func (s *Statement) describe(tasks []*task) {
	for _, t := range tasks {
		t.Fixed = append(t.Fixed, result.Param{Name: "db", Value: s.DB}, result.Param{Name: "query", Value: s.SQL})
		if s.ArgsFrom != "" {
			t.Fixed = append(t.Fixed, result.Param{Name: "args-from", Value: s.ArgsFrom})
		}
	}
}

// takeStatement copies the user's database, which no driver ever opens, and lets one driver answer
// the statement for all arguments. It returns an error, before anything is measured, if the
// statement writes, fails, or finds nothing.
func (r *run) takeStatement(ctx context.Context) error {
	path := filepath.Join(r.scratch[r.tasks[0].Dir].Path, "query.db")
	if err := snapshot(ctx, r.o.Statement.DB, path); err != nil {
		return err
	}
	for _, t := range r.tasks {
		t.db = path
	}
	p, err := r.prober(ctx)
	if err != nil {
		return err
	}
	return r.probe(ctx, p, path)
}

func (r *run) probe(ctx context.Context, by program, path string) error {
	s := r.o.Statement
	q, err := parseQuery(s.SQL)
	if err != nil {
		return err
	}
	request := workload.Request{Probe: &workload.Probe{DB: path, SQL: q.text, Params: q.params, ArgsFrom: s.ArgsFrom, Limit: s.Limit}}
	err = r.consult(ctx, by, request, func(reply *workload.Reply) (bool, error) {
		if r.asked = reply.Statement; r.asked == nil {
			return false, garbage("it did not answer")
		}
		return false, nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w%s", s.DB, err, wayOut(kindOf(err)))
	}
	return nil
}

// wayOut returns advice for a statement that is too much for a probe.
func wayOut(k result.FailureKind) string {
	switch k {
	case result.FailureHang:
		return "; allow it more with --timeout, or ask for less"
	case result.FailureGarbage:
		return "; take fewer --args"
	}
	return ""
}

// prober builds the first of the makers that can be built here, whether it takes part or not.
func (r *run) prober(ctx context.Context) (p program, err error) {
	for _, name := range makers {
		r.o.Observer.Progress(Building, name, 0, len(r.o.Contenders))
		if p, _, err = r.describe(ctx, Spec{Name: name}); err == nil || ctx.Err() != nil {
			return p, err
		}
	}
	return p, fmt.Errorf("no driver that can be built here tells the columns of a query: %w", err)
}
