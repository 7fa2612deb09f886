package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/foliofs/folio/lab/result"
)

// A first look shows figures while most contenders are still to be built, which can take an hour.
// Nothing is built during a look. Its samples are not comparable: minutes of building lie between
// those of one contender and the next, so that other work of the machine does not fall on all of
// them alike. So they are shown, and do not count.

// batch returns how many of the programs that wait are built before the next look: all, if there is
// none. There is none if nothing is left to be built after it, because the figures come soon then.
// A run that is not quick has one look only, because each pauses the building for long.
func (r *run) batch(waiting []Spec) int {
	if r.o.Look == nil || r.looked > 0 && !r.o.Quick || !r.o.looks(waiting) {
		return len(waiting)
	}
	return parallelBuilds
}

// Looks reports whether there is something to build after the first programs, so that these have a
// first look.
func (o *Options) Looks() bool { return o.looks(o.programs()) }

func (o *Options) looks(waiting []Spec) bool {
	return len(waiting) > parallelBuilds && o.unbuilt(waiting[parallelBuilds:]) > 0
}

// firstLook gives each participant that has not had it a turn in each case, as soon as there are
// two. waiting are the programs that are still to be built.
func (r *run) firstLook(ctx context.Context, waiting []Spec) error {
	if len(r.participants) < 2 {
		return nil
	}
	turns, err := r.lookTurns(ctx, waiting)
	if err != nil {
		return err
	}
	r.looked = len(r.participants)
	defer timed(&r.counts.Measuring)()
	var samples []*result.Sample // of a case
	for i, t := range turns {
		r.o.Observer.Progress(Looking, t.String(), i, len(turns))
		s, err := r.lookAt(ctx, t)
		if err != nil {
			return err
		}
		if s != nil {
			samples = append(samples, s)
		}
		if last := i+1 == len(turns) || turns[i+1].task != t.task; last && len(samples) > 0 {
			r.o.Look(&t.task.record, samples)
			samples = nil
		}
	}
	return nil
}

// lookAt takes a turn of a look. The sample is nil if the contender fails, which it does again when
// it counts.
func (r *run) lookAt(ctx context.Context, t turn) (*result.Sample, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	records, _, err := r.take(ctx, t)
	if err == nil {
		return records[0].Sample, nil
	}
	if stopped(ctx, err) {
		return nil, ctx.Err()
	}
	if own := (*ownError)(nil); errors.As(err, &own) {
		return nil, own.error
	}
	r.o.Observer.Note(fmt.Sprintf("failed in its first look: %s: %s", t, OneLine([]byte(err.Error()))))
	return nil, nil
}

// lookTurns lists the turns of a look, case by case. A case whose database cannot be made yet has
// none.
func (r *run) lookTurns(ctx context.Context, waiting []Spec) (turns []turn, err error) {
	shared := r.makerKnown(waiting)
	if shared {
		if err := r.share(ctx); err != nil {
			return nil, err
		}
	}
	for _, t := range r.tasks {
		if t.workload.Database != nil && !shared {
			continue
		}
		for _, e := range r.participants[r.looked:] {
			if e.unsupported(t) == "" {
				turns = append(turns, turn{t, e, 0, measuring})
			}
		}
	}
	return turns, nil
}

// makerKnown reports whether one of the participants is the one that makes the shared databases: a
// look must not have them made by another than a run without looks.
func (r *run) makerKnown(waiting []Spec) bool {
	e := r.maker()
	return e != nil && !slices.ContainsFunc(waiting, func(s Spec) bool { return makerRank(s.Name) < makerRank(e.record.Name) })
}
