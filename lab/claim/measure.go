package claim

import (
	"context"
	"fmt"
	"path/filepath"
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
	results, err := r.all(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range o.Claims {
		out.Results = append(out.Results, results[c])
	}
	return out, nil
}

// all lets each source take its samples, and notes the verdicts of the claims that it has measured.
func (r *run) all(ctx context.Context) (map[*Claim]Result, error) {
	results := make(map[*Claim]Result)
	for _, first := range r.Claims {
		if _, ok := results[first]; ok {
			continue // its source has measured it for another claim
		}
		out, err := first.From.measure(ctx, r)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			out = unmeasured(err)
			r.Watch.Note(fmt.Sprintf("%s: %v", first.From.ID(), err))
		}
		for _, c := range r.Claims {
			if c.From == first.From {
				res := c.judge(out)
				results[c] = res
				r.Watch.Note(res.String())
			}
		}
	}
	return results, nil
}

// Committed is the file of the figures that the documents show.
func Committed(project string) string { return filepath.Join(project, "docs", "claims.json") }
