package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/foliofs/folio/lab/result"
	"github.com/foliofs/folio/lab/workload"
)

// Options of a run.
type Options struct {
	Workloads  []*workload.Workload
	Values     map[string]workload.Values // of each workload's flags
	Contenders []Spec
	Named      bool     // the user named the contenders
	Source     string   // the directory of the contenders
	Cache      string   // where programs are kept
	Dirs       []string // where stores are made
	Out        string   // the result file; an existing file is resumed
	Resume     string   // a directory of results, if Out is to be the newest there that the same plan was interrupted in
	Rounds     int
	Seed       uint64
	Quick      bool
	Timeout    time.Duration // of a single step of a contender
	Server     string        // address of a PostgreSQL server, or ""
	Statement  *Statement    // of the user, for the workload query
	Command    string        // that repeats the run (rule 10)
	Observer   Observer

	build func(ctx context.Context, s Spec) (program, error) // of a test; nil builds
}

// An Observer shows how far a run is. Its methods are called by one goroutine.
type Observer interface {
	// Progress reports how much of a step is done, and its next part.
	Progress(step, next string, done, all int)
	// Note tells in a line that something went wrong: that a contender takes no part, or that one
	// that was named takes no part in something, or a failure.
	Note(line string)
	// Ended tells that nothing more comes.
	Ended()
}

// The steps of a run.
const (
	Building  = "building" // the programs of the contenders
	Making    = "making the database"
	Measuring = "measuring"
)

// A run is one run of the laboratory.
type run struct {
	o            *Options
	tasks        []*task
	scratch      map[string]*Scratch // by directory
	participants []*participant
	asked        *workload.Statement // by the user, with its answers
	skips        []result.Skip
	out          *result.Writer
	old          *result.Set // the earlier part of the run; nil in a new run
	announced    bool        // the participants and cases are in the results
	counts       result.End
}

// Run measures. If it fails, or ctx is done, all finished samples are in the file. A file in which
// nothing was begun is removed, unless the run was interrupted.
func Run(ctx context.Context, o *Options) (err error) {
	defer o.Observer.Ended()
	if err := o.check(); err != nil {
		return err
	}
	if o.build == nil {
		o.build = (&builder{o.Source, o.Cache}).build
	}
	r := &run{o: o, scratch: make(map[string]*Scratch)}
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
	if err := r.open(header); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.leave(), r.close(ctx, err)) }()
	if err := r.occupy(header.Dirs); err != nil {
		return err
	}
	if err := r.prepare(ctx); err != nil {
		return err
	}
	if err := r.announce(header); err != nil {
		return err
	}
	defer timed(&r.counts.Measuring)()
	return r.measure(ctx)
}

// prepare makes ready all that is needed to measure.
func (r *run) prepare(ctx context.Context) error {
	if r.o.Statement != nil {
		if err := r.takeStatement(ctx); err != nil {
			return err
		}
	}
	if err := r.enter(ctx); err != nil {
		return err
	}
	if err := r.skipCases(); err != nil {
		return err
	}
	return r.share(ctx)
}

// timed adds the time until its result is called to seconds.
func timed(seconds *float64) func() {
	begin := time.Now()
	return func() { *seconds += time.Since(begin).Seconds() }
}

// occupy makes a scratch on each directory.
func (r *run) occupy(dirs []result.Dir) error {
	for _, d := range dirs {
		if r.scratch[d.Path] != nil {
			continue // given twice
		}
		s, err := NewScratch(d.Path)
		if err != nil {
			return fmt.Errorf("%w; choose another directory with --dirs", err)
		}
		r.scratch[d.Path] = s
	}
	return nil
}

// leave removes all files that the run made on the directories, except the shared databases.
func (r *run) leave() (err error) {
	for _, s := range r.scratch {
		err = errors.Join(err, s.Close())
	}
	return err
}

// check refuses options that make no sense: without the command there are no figures (rule 10).
func (o *Options) check() error {
	switch {
	case o.Command == "":
		return errors.New("no figure without the command that makes it: Options.Command is empty")
	case o.Rounds < 1:
		return fmt.Errorf("--samples %d: it takes a number above 0", o.Rounds)
	case o.Timeout <= 0:
		return fmt.Errorf("--timeout %v: it takes a duration above 0, such as 1m", o.Timeout)
	case len(o.Workloads) == 0 || len(o.Contenders) == 0 || len(o.Dirs) == 0:
		return errors.New("there is nothing to run")
	}
	return nil
}

// skip notes why a contender takes no part.
func (r *run) skip(s result.Skip) {
	r.skips = append(r.skips, s)
	r.o.Observer.Note("skipped " + s.String())
}

// measure takes all samples that were not taken before. It goes round by round, so that other work
// of the machine falls on all contenders alike, and the order differs from round to round.
func (r *run) measure(ctx context.Context) error {
	turns := r.turns()
	all := len(turns)
	if r.old != nil {
		turns = slices.DeleteFunc(turns, func(t turn) bool { return r.old.Has(t.cell(), t.round) })
	}
	for len(turns) > 0 && ctx.Err() == nil {
		next := turns[0]
		r.o.Observer.Progress(Measuring, next.String(), all-len(turns), all)
		s, stderr, err := r.sample(ctx, next)
		if err != nil && stopped(ctx, err) {
			break
		}
		turns = turns[1:]
		if err != nil {
			if err := r.fail(next.cell(), next.round, err, stderr); err != nil {
				return err
			}
			turns = slices.DeleteFunc(turns, func(t turn) bool { return t.cell() == next.cell() })
		}
		if s == nil {
			continue
		}
		if err := r.write(result.Record{Sample: s}); err != nil {
			return err
		}
		r.counts.Samples++
	}
	return ctx.Err()
}

// An ownError is an error of the runner itself. It ends the run, because no contender is to blame.
type ownError struct{ error }

func (e *ownError) Unwrap() error { return e.error }

// fail records that a contender has failed.
func (r *run) fail(cell result.Cell, round int, err error, stderr string) error {
	if own := (*ownError)(nil); errors.As(err, &own) {
		return own.error
	}
	f := &result.Failure{
		Case: cell.Case, Contender: cell.Contender, Round: round, Time: time.Now().UTC(), Kind: kindOf(err),
		Error: OneLine([]byte(err.Error())), Stderr: stderr,
	}
	r.counts.Failures++
	r.o.Observer.Note(fmt.Sprintf("failed: %s in %s: %s: %s", f.Contender, f.Case, f.Kind, f.Error))
	return r.write(result.Record{Failure: f})
}
