package runner

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/foliofs/folio/lab/result"
)

// A turn is what an entrant does once in a task.
type turn struct {
	task    *task
	entrant *entrant
	round   int // from 1; 0 is none: what is found out then is no sample
	purpose purpose
}

// A purpose is what a turn is for.
type purpose string

const (
	measuring purpose = ""
	profiling purpose = "profile" // the process looks at itself
	tracing   purpose = "trace"   // strace looks at it
)

// turns lists all that there are to take. In each round the first to take its turn is another.
func (r *run) turns() []turn {
	var turns []turn
	for round := 1; round <= r.o.Rounds; round++ {
		for _, t := range r.tasks {
			able := r.able(t)
			for i := range able {
				turns = append(turns, turn{t, able[(i+round-1)%len(able)], round, measuring})
			}
		}
	}
	for _, p := range r.extras {
		for _, t := range r.tasks {
			for _, e := range r.able(t) {
				if e.record.Kind != result.KindServer { // whose work is not in its process
					turns = append(turns, turn{t, e, 0, p})
				}
			}
		}
	}
	return turns
}

// setExtras says what is done besides taking samples, as far as it can be done here.
func (r *run) setExtras(ctx context.Context) {
	if r.o.Profile {
		r.extras = append(r.extras, profiling)
	}
	if !r.o.Trace {
		return
	}
	if reason := noTracer(ctx); reason != "" {
		r.skip(result.Skip{Contender: "--trace", Reason: reason + ": no system calls are counted"})
		return
	}
	r.extras = append(r.extras, tracing)
}

// able lists who takes part in a task.
func (r *run) able(t *task) []*entrant {
	var able []*entrant
	for _, e := range r.entrants {
		if e.able(t) == "" {
			able = append(able, e)
		}
	}
	return able
}

func (t turn) cell() result.Cell {
	return result.Cell{Case: t.task.record.ID, Contender: t.entrant.record.ID}
}

// String is the turn for people who wait for it.
func (t turn) String() string {
	s := t.task.record.ID + " " + t.entrant.record.ID
	if t.purpose != measuring {
		s = string(t.purpose) + " of " + s
	}
	return s
}

// taken reports whether an earlier run has taken the turn.
func (t turn) taken(old *result.Set) bool {
	c := t.cell()
	switch t.purpose {
	case profiling:
		return slices.ContainsFunc(old.Profiles, func(p result.Profile) bool { return p.Case == c.Case && p.Contender == c.Contender })
	case tracing:
		return old.Trace(c.Case, c.Contender) != nil
	}
	return old.Has(c.Case, c.Contender, t.round)
}

// An attempt is how the process of a turn is started.
type attempt struct {
	entrant *entrant
	program program
	timeout time.Duration
	profile string // prefix of the files; "" if none are written
	trace   string // the file to which strace writes; "" if there is none
}

// slowdown is how much longer a step may take under strace.
const slowdown = 10

// take takes a turn.
func (r *run) take(ctx context.Context, t turn) (records []result.Record, stderr string, err error) {
	a := &attempt{entrant: t.entrant, program: t.entrant.program, timeout: r.o.Timeout}
	switch t.purpose {
	case profiling:
		if a.profile, err = r.profilePrefix(t.cell()); err != nil {
			return nil, "", &ownError{err}
		}
	case tracing:
		a.trace = filepath.Join(r.scratch[t.task.dir].Path, "calls")
		defer os.Remove(a.trace)
		a.program, a.timeout = strace(a.program, a.trace), slowdown*a.timeout
	}
	s, stderr, err := r.sample(ctx, t.task, a, t.round)
	if err != nil {
		return nil, stderr, err
	}
	switch t.purpose {
	case profiling:
		records, err = r.profiles(t.cell(), a.profile)
	case tracing:
		records = make([]result.Record, 1)
		records[0], err = traceRecord(t.cell(), s.Ops, a.trace, t.task.workload.Process)
	default:
		records = []result.Record{{Sample: s}}
	}
	return records, "", err
}

// A pace estimates how long the rest of a run takes: each case as long as it took before, unknown ones as the average.
type pace struct {
	kinds map[kind]time.Duration
	sum   time.Duration
	count int
}

// A kind is turns that take about the same time.
type kind struct {
	result.Cell
	purpose purpose
}

func (t turn) kind() kind { return kind{t.cell(), t.purpose} }

func (p *pace) add(k kind, took time.Duration) {
	p.kinds[k] = took
	p.sum += took
	p.count++
}

// know takes over from samples of an earlier part of the run how long turns take, as far as they tell.
func (p *pace) know(old *result.Set) {
	for i := range old.Samples {
		m := &old.Samples[i]
		t := kind{result.Cell{Case: m.Case, Contender: m.Contender}, measuring}
		p.add(t, time.Duration((m.WarmUp.Seconds+m.Seconds)*float64(time.Second)))
	}
}

// left is how long the rest takes; 0 if nothing is known yet.
func (p *pace) left(rest []turn) (left time.Duration) {
	if p.count == 0 {
		return 0
	}
	average := p.sum / time.Duration(p.count)
	for _, t := range rest {
		d, ok := p.kinds[t.kind()]
		if !ok {
			d = average
		}
		left += d
	}
	return left
}
