package claim

import (
	"context"
	"fmt"
	"strings"

	"github.com/foliofs/folio/lab/result"
	"github.com/foliofs/folio/lab/runner"
	"github.com/foliofs/folio/lab/workload"
)

// A Lab is a source in the laboratory: a workload, with contenders that take turns in it.
type Lab struct {
	Name       string
	Workload   string
	Flags      string // of the workload, as "rows=1000000 goroutines=1,22"; the others have their defaults
	Quick      string // those that are other in a quick run
	Contenders string // with commas between
	Everywhere bool   // on all directories, not on the first alone
}

// ID implements Source.
func (l *Lab) ID() string { return l.Name }

func (l *Lab) measure(ctx context.Context, r *run) (*outcome, error) {
	o, err := l.options(r)
	if err != nil {
		return nil, err
	}
	if err := runner.Run(ctx, o); err != nil {
		return nil, err
	}
	set, err := result.ReadFile(o.Out)
	if err != nil {
		return nil, err
	}
	out := &outcome{samples: make(Samples), why: func(name string) string { return missing(set, name) }}
	out.samples.fromSet(set)
	return out, nil
}

func (l *Lab) options(r *run) (*runner.Options, error) {
	w, err := workload.Find(l.Workload)
	if err != nil {
		return nil, err
	}
	values, err := l.values(w, r.Quick)
	if err != nil {
		return nil, fmt.Errorf("claims of %s: %w", l.Name, err)
	}
	o := &runner.Options{
		Workloads: []*workload.Workload{w}, Values: map[string]workload.Values{w.Name: values},
		Source: r.contenders(), Cache: r.Cache, Dirs: r.Dirs[:1], Out: r.file(l.Name, ".jsonl"), Rounds: r.Samples, Seed: 1,
		Quick: r.Quick, Timeout: r.Timeout, Command: r.Command, Observer: &labObserver{r.Watch, r, l.Name},
	}
	if l.Everywhere {
		o.Dirs = r.Dirs
	}
	o.Contenders, err = runner.ParseSpecs(strings.Split(l.Contenders, ","))
	return o, err
}

// values returns the values of the workload's flags.
func (l *Lab) values(w *workload.Workload, quick bool) (workload.Values, error) {
	values := w.Defaults(quick)
	settings := l.Flags
	if quick {
		settings += " " + l.Quick
	}
	for setting := range strings.FieldsSeq(settings) {
		name, value, _ := strings.Cut(setting, "=")
		if _, ok := values[name]; !ok {
			return nil, fmt.Errorf("workload %s has no flag %s", w.Name, name)
		}
		values[name] = value
	}
	return values, nil
}

// A labObserver passes on the runner's reports under the name of a source.
type labObserver struct {
	runner.Observer
	r    *run
	name string
}

// Progress and Ended implement runner.Observer.
func (o *labObserver) Progress(step, next string, done, all int) {
	switch step {
	case runner.Building:
		next, done, all = step+" "+next, 0, 1
	case runner.Making:
		next = step
	}
	o.r.progress(o.name, next, done, all)
}

func (o *labObserver) Ended() {}
