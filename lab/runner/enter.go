package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/foliofs/folio/lab/result"
	"github.com/foliofs/folio/lab/workload"
)

// A participant is an API of a contender that takes part.
type participant struct {
	program program
	about   workload.AboutAPI
	spec    Spec // by which it was asked for
	record  result.Contender
}

// enter builds the contenders and asks each for its description. A contender that cannot take part
// is skipped with the reason.
func (r *run) enter(ctx context.Context) error {
	if err := os.MkdirAll(r.o.Cache, 0o777); r.o.Cache != "" && err != nil {
		return fmt.Errorf("%w; the programs need a directory: choose another with XDG_CACHE_HOME", err)
	}
	if err := r.enterAll(ctx); err != nil {
		return err
	}
	if len(r.participants) == 0 {
		return errors.New("no contender can take part; the lines above have the reasons")
	}
	return nil
}

// parallelBuilds is the number of programs that are built at a time. A C compiler keeps one
// processor busy for most of a build of a driver in C, and the go command keeps the other
// processors busy.
const parallelBuilds = 2

// A build is the result of building one program.
type build struct {
	done    chan struct{} // closed when the fields below are final
	program program
	about   *workload.About
	err     error
}

// enterAll builds the programs, and takes in their contenders. When it returns, nothing is built
// any more. The participants are in the order of the contenders.
func (r *run) enterAll(ctx context.Context) error {
	defer timed(&r.counts.Building)()
	ctx, cancel := context.WithCancel(ctx)
	var ends sync.WaitGroup
	defer func() { cancel(); ends.Wait() }()
	builds := make(map[string]*build)
	var specs []Spec // one for each program
	for _, s := range r.o.Contenders {
		if builds[s.program()] == nil {
			builds[s.program()], specs = &build{done: make(chan struct{})}, append(specs, s)
		}
	}
	places := make(chan struct{}, parallelBuilds)
	ends.Go(func() {
		for _, s := range specs {
			places <- struct{}{}
			ends.Go(func() {
				b := builds[s.program()]
				b.program, b.about, b.err = r.describe(ctx, s)
				<-places
				close(b.done)
			})
		}
	})
	for i, built := range specs {
		r.o.Observer.Progress(Building, built.program(), i, len(specs))
		b := builds[built.program()]
		<-b.done
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for _, s := range r.o.Contenders {
			if s.program() != built.program() {
				continue
			}
			if b.err != nil {
				r.skip(result.Skip{Contender: s.String(), Reason: OneLine([]byte(b.err.Error()))})
			} else if err := r.enterAPIs(s, b.program, b.about); err != nil {
				return err
			}
		}
	}
	place := func(e *participant) int { return slices.Index(r.o.Contenders, e.spec) }
	slices.SortStableFunc(r.participants, func(a, b *participant) int { return place(a) - place(b) })
	return nil
}

// describe builds a program and asks it for its description. A build that was killed may have left
// a part of the program, which the go command takes for the whole. So a program that cannot answer
// is removed and built once more.
func (r *run) describe(ctx context.Context, s Spec) (p program, about *workload.About, err error) {
	for again := true; ; again = false {
		if p, err = r.o.build(ctx, s); err != nil {
			return p, nil, err
		}
		err = r.consult(ctx, p, workload.Request{Describe: &workload.Describe{}}, func(reply *workload.Reply) (bool, error) {
			if about = reply.About; about == nil {
				return false, garbage("it did not describe itself")
			}
			return false, nil
		})
		crashed := kindOf(err) == result.FailureCrash || errors.As(err, new(*fs.PathError))
		if !again || !crashed || stopped(ctx, err) || r.o.Cache == "" {
			return p, about, err
		}
		if err := os.Remove(p.path); err != nil {
			return p, nil, err
		}
	}
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
		if slices.ContainsFunc(r.participants, func(e *participant) bool { return e.record.ID == id }) {
			continue // named twice
		}
		r.participants = append(r.participants, &participant{p, a, s, contenderRecord(id, s, about, &a)})
	}
	if !found {
		var names []string
		for _, a := range about.APIs {
			names = append(names, a.Name)
		}
		return fmt.Errorf("contender %s has no API %q; it has %s", s.program(), s.API, strings.Join(names, ", "))
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

// unsupported says why a participant takes no part in a task; "" if it does.
func (e *participant) unsupported(t *task) string {
	if e.spec.only != "" && e.spec.only != t.workload.Name {
		return fmt.Sprintf("unless it is named, it takes part in %s only", e.spec.only)
	}
	if !slices.Contains(e.about.Workloads, t.workload.Name) {
		return "it has no " + t.workload.Needs
	}
	if !slices.Contains(e.about.Groups, t.Group) {
		return fmt.Sprintf("it cannot promise %s", t.Group)
	}
	return ""
}

// skipCases notes in which cases a participant takes no part, with the reason. If the user named
// the contenders, a reason is noted once for a workload, unless another API of the same contender
// takes part. It returns an error if there is nothing to do.
func (r *run) skipCases() error {
	first, told := "", make(map[string]bool)
	for _, t := range r.tasks {
		for _, e := range r.participants {
			reason := e.unsupported(t)
			if reason == "" {
				continue
			}
			s := result.Skip{Contender: e.record.ID, Workload: t.workload.Name, Case: t.ID, Reason: reason}
			r.skips = append(r.skips, s)
			first = cmp.Or(first, s.String())
			other := func(o *participant) bool { return o.spec == e.spec && o.unsupported(t) == "" }
			if r.o.Named && !told[s.String()] && !slices.ContainsFunc(r.participants, other) {
				told[s.String()] = true
				r.o.Observer.Note("skipped " + s.String())
			}
		}
	}
	if len(r.turns()) == 0 {
		return fmt.Errorf("no contender takes part in anything (%s); name other --contenders, or none", first)
	}
	return nil
}
