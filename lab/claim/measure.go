package claim

import (
	"context"
	"fmt"
	"time"

	"github.com/foliofs/folio/lab/runner"
)

// Measure takes all samples that the claims need, one source after the other, and judges. If it
// fails, or ctx is done, the finished samples are in the files of the run, and another run can
// resume it.
func Measure(ctx context.Context, o *Options) (*Report, error) {
	defer o.Watch.Ended()
	if o.Samples < 1 {
		return nil, fmt.Errorf("--samples %d: it takes a number above 0", o.Samples)
	}
	machine, dirs, err := runner.Here(o.Project, o.Dirs)
	if err != nil {
		return nil, err
	}
	out := &Report{Header: Header{
		Command: o.Command, Started: time.Now().UTC(), Quick: o.Quick, Samples: o.Samples, Machine: machine, Dirs: dirs,
	}}
	r := &run{Options: o}
	if err := r.prepare(&out.Header); err != nil {
		return nil, err
	}
	for _, d := range dirs {
		if w := d.Warning(); w != "" {
			o.Watch.Note(w)
		}
	}
	out.Results = make([]Result, len(o.Claims))
	for _, c := range o.Claims {
		if err := r.source(ctx, c.From, out.Results); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// source lets a source take its samples, unless it has done so for an earlier claim, and judges all
// claims that it measures.
func (r *run) source(ctx context.Context, s Source, results []Result) error {
	var out *outcome
	for i, c := range r.Claims {
		if c.From != s || results[i].Claim != "" {
			continue
		}
		if out == nil {
			var err error
			out, err = s.measure(ctx, r)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				out = unmeasured(err)
				r.Watch.Note(fmt.Sprintf("%s: %s", s.ID(), out.why("")))
			}
		}
		results[i] = c.judge(out)
		r.Watch.Judged(c, &results[i])
	}
	return nil
}
