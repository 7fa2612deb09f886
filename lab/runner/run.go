package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/foliofs/folio/lab/result"
	"github.com/foliofs/folio/lab/workload"
)

// Options say what is run.
type Options struct {
	Workloads  []*workload.Workload
	Values     map[string]workload.Values // of each workload's flags
	Contenders []Spec
	Source     string   // the directory of the contenders
	Cache      string   // where programs are kept
	Dirs       []string // where stores are made
	Out        string   // the result file; one that exists is gone on with
	Rounds     int
	Seed       uint64
	Quick      bool
	Timeout    time.Duration // of a single step of a contender
	Server     string        // address of a PostgreSQL server, or ""
	Statement  *Statement    // of the user, for the workload query
	Profile    bool          // take profiles too
	Trace      bool          // count system calls too
	Command    string        // that repeats the run (rule 10)
	Observer   Observer

	build func(ctx context.Context, s Spec) (program, error) // of a test; nil builds
}

// An Observer is told how far a run is. Its methods are called by one goroutine.
type Observer interface {
	// Building a contender, of which done are built.
	Building(contender string, done, all int)
	// Making the shared database.
	Making(rows, all int)
	// Sampling: done of all samples are taken, what is next, and how long the rest takes, 0 if that is not known.
	Sampling(done, all int, next string, left time.Duration)
	// Skipped and Failed tell of contenders.
	Skipped(s *result.Skip)
	Failed(f *result.Failure)
	// Ended tells that nothing more comes.
	Ended()
}

// A run is one run of the laboratory.
type run struct {
	o        *Options
	tasks    []*task
	entrants []*entrant
	asked    *workload.Statement // by the user, with its answers
	copies   string              // the directory of the copy of the user's database
	extras   []purpose           // of turns besides those that measure
	skips    []result.Skip
	out      *result.Writer
	old      *result.Set // what was measured before; nil in a new run
	counts   result.End
}

// Run measures. Whatever goes wrong, and when ctx is done, what was measured is in the file.
func Run(ctx context.Context, o *Options) (err error) {
	defer o.Observer.Ended()
	if err := o.check(); err != nil {
		return err
	}
	if o.build == nil {
		o.build = (&builder{o.Source, o.Cache}).build
	}
	r := &run{o: o}
	header, err := r.header()
	if err != nil {
		return err
	}
	if r.tasks, err = plan(o, header.Dirs); err != nil {
		return err
	}
	if o.Statement != nil {
		o.Statement.describe(r.tasks)
	}
	header.Plan = digest(r.tasks, o.Seed)
	if err := r.look(header); err != nil {
		return err
	}
	if o.Statement != nil {
		defer func() { err = errors.Join(err, r.dropStatement()) }()
		if err := r.takeStatement(ctx); err != nil {
			return err
		}
	}
	if err := r.room(); err != nil {
		return err
	}
	if err := r.enter(ctx); err != nil {
		return err
	}
	if err := r.share(ctx); err != nil {
		return err
	}
	r.setExtras(ctx)
	if err := r.open(header); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.out.Close()) }()
	err = r.measure(ctx)
	r.counts.Ended, r.counts.Interrupted = time.Now().UTC(), ctx.Err() != nil
	return errors.Join(err, r.out.Write(result.Record{End: &r.counts}))
}

// check refuses options that make no sense: without the command there are no figures (rule 10).
func (o *Options) check() error {
	switch {
	case o.Command == "":
		return errors.New("no figure without the command that makes it: Options.Command is empty")
	case o.Rounds < 1:
		return fmt.Errorf("--rounds %d: it takes a number above 0", o.Rounds)
	case len(o.Workloads) == 0 || len(o.Contenders) == 0 || len(o.Dirs) == 0:
		return errors.New("there is nothing to run")
	}
	return nil
}

// skip notes why a contender takes no part.
func (r *run) skip(s result.Skip) {
	r.skips = append(r.skips, s)
	r.o.Observer.Skipped(&s)
}

// measure takes all samples: round by round, so that whatever else the machine does falls on all contenders alike, and in every round in
// another order. Profiles and traces come afterwards.
func (r *run) measure(ctx context.Context) error {
	turns := r.turns()
	pace := pace{kinds: make(map[kind]time.Duration)}
	broken := make(map[result.Cell]bool)
	for i, turn := range turns {
		cell := turn.cell()
		if broken[cell] || r.old != nil && turn.taken(r.old) {
			continue
		}
		r.o.Observer.Sampling(i, len(turns), turn.String(), pace.left(turns[i:]))
		begin := time.Now()
		records, stderr, err := r.take(ctx, turn)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		pace.took(turn, time.Since(begin))
		if err != nil {
			broken[cell] = true
			if err := r.fail(cell, turn.round, err, stderr); err != nil {
				return err
			}
		}
		for _, record := range records {
			if err := r.out.Write(record); err != nil {
				return err
			}
		}
	}
	return nil
}

// fail records that a contender has failed.
func (r *run) fail(cell result.Cell, round int, err error, stderr string) error {
	f := &result.Failure{
		Case: cell.Case, Contender: cell.Contender, Round: round, Time: time.Now().UTC(), Kind: kindOf(err),
		Error: oneLine([]byte(err.Error())), Stderr: stderr,
	}
	r.counts.Failures++
	r.o.Observer.Failed(f)
	return r.out.Write(result.Record{Failure: f})
}
