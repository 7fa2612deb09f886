package runner

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/foliofs/folio/lab/result"
)

// A turn is one piece of work of a participant in a task.
type turn struct {
	task        *task
	participant *participant
	round       int // from 1; 0 is for a turn that is no sample
	purpose     purpose
}

// A purpose is the purpose of a turn.
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
			taking := r.taking(t)
			for i := range taking {
				turns = append(turns, turn{t, taking[(i+round-1)%len(taking)], round, measuring})
			}
		}
	}
	for _, p := range r.extras {
		for _, t := range r.tasks {
			for _, e := range r.taking(t) {
				if e.record.Kind != result.KindServer { // whose work is not in its process
					turns = append(turns, turn{t, e, 0, p})
				}
			}
		}
	}
	return turns
}

// setExtras notes the profiles and traces that are taken after the samples, as far as they work
// here.
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

// taking lists the participants that take part in a task.
func (r *run) taking(t *task) []*participant {
	var taking []*participant
	for _, e := range r.participants {
		if e.unsupported(t) == "" {
			taking = append(taking, e)
		}
	}
	return taking
}

func (t turn) cell() result.Cell {
	return result.Cell{Case: t.task.record.ID, Contender: t.participant.record.ID}
}

// String describes the turn for a user who waits for it.
func (t turn) String() string {
	s := t.task.record.ID + " " + t.participant.record.ID
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
	participant *participant
	program     program
	timeout     time.Duration
	profile     string // prefix of the files; "" if none are written
	trace       string // the file to which strace writes; "" if there is none
}

// slowdown is how much longer a step may take under strace.
const slowdown = 10

// take takes a turn.
func (r *run) take(ctx context.Context, t turn) (records []result.Record, stderr string, err error) {
	a := &attempt{participant: t.participant, program: t.participant.program, timeout: r.o.Timeout}
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
