package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/foliofs/folio/lab/result"
	"github.com/foliofs/folio/lab/workload"
)

// An entrant is an API of a contender that takes part.
type entrant struct {
	program program
	about   workload.AboutAPI
	only    string // the one workload that it takes part in; "" is all
	record  result.Contender
}

// A program is what is started for a sample.
type program struct {
	path string
	args []string
}

// enter builds the contenders and asks them who they are. Those that cannot take part are skipped with the reason.
func (r *run) enter(ctx context.Context) error {
	for i, s := range r.o.Contenders {
		r.o.Observer.Building(s.String(), i, len(r.o.Contenders))
		p, about, err := r.describe(ctx, s)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			r.skip(result.Skip{Contender: s.String(), Reason: oneLine([]byte(err.Error()))})
			continue
		}
		if err := r.enterAPIs(s, p, about); err != nil {
			return err
		}
	}
	if len(r.entrants) == 0 {
		return errors.New("no contender can take part")
	}
	return nil
}

// describe builds one and asks it.
func (r *run) describe(ctx context.Context, s Spec) (p program, about *workload.About, err error) {
	if p, err = r.o.build(ctx, s); err != nil {
		return p, nil, err
	}
	about, err = describe(ctx, r.o, p)
	return p, about, err
}

func describe(ctx context.Context, o *Options, p program) (*workload.About, error) {
	proc, err := start(ctx, o.Timeout, p.path, p.args...)
	if err != nil {
		return nil, err
	}
	proc.tell(workload.Request{Describe: &workload.Describe{}})
	reply, err := proc.reply()
	if err == nil && reply.About == nil {
		err = &failure{result.FailureGarbage, errors.New("it did not say who it is")}
	}
	if err = proc.end(err); err != nil {
		return nil, withStderr(err, proc)
	}
	return reply.About, nil
}

// withStderr adds what a program complained of to what is known of its failure.
func withStderr(err error, p *process) error {
	if text := oneLine([]byte(p.stderr.String())); text != "" {
		return fmt.Errorf("%w: %s", err, text)
	}
	return err
}

// enterAPIs takes in the APIs of a program that the user wants.
func (r *run) enterAPIs(s Spec, p program, about *workload.About) error {
	found := false
	for _, a := range about.APIs {
		if s.API != "" && s.API != a.Name {
			continue
		}
		found = true
		id := s.program()
		if len(about.APIs) > 1 {
			id += ":" + a.Name
		}
		err := checkAbout(&a)
		if err == nil && a.Kind == string(result.KindServer) && r.o.Server == "" {
			err = errors.New("it needs the address of a server: --postgres")
		}
		if err != nil {
			r.skip(result.Skip{Contender: id, Reason: err.Error()})
			continue
		}
		if slices.ContainsFunc(r.entrants, func(e *entrant) bool { return e.record.ID == id }) {
			continue // named twice
		}
		r.entrants = append(r.entrants, &entrant{p, a, s.only, contenderRecord(id, s, about, &a)})
	}
	if !found {
		return fmt.Errorf("contender %s has no API %q", s.program(), s.API)
	}
	return nil
}

func contenderRecord(id string, s Spec, about *workload.About, a *workload.AboutAPI) result.Contender {
	c := result.Contender{
		ID: id, Name: s.Name, Version: s.Version, API: a.Name, Title: a.Title, Kind: result.Kind(a.Kind), Ours: a.Ours,
		Module: about.Module, ModuleVersion: about.Modules[about.Module], Modules: about.Modules, Build: about.Build,
		SQLite: a.SQLite, CompileOptions: a.CompileOptions, Notes: a.Notes,
	}
	if s.Version != "" {
		c.Title += " " + s.Version
	}
	return c
}

// able says why an entrant takes no part in a task; "" if it does.
func (e *entrant) able(t *task) string {
	if e.only != "" && e.only != t.workload.Name {
		return fmt.Sprintf("unless it is named, it takes part in %s only", e.only)
	}
	if !slices.Contains(e.about.Workloads, t.workload.Name) {
		return "it cannot do that"
	}
	if !slices.Contains(e.about.Groups, workload.Group(t.record.Group)) {
		return fmt.Sprintf("it cannot promise %s", t.record.Group)
	}
	return ""
}
