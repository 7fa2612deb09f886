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
	outcomes, err := r.all(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range o.Claims {
		out.Results = append(out.Results, c.judge(outcomes[c.From]))
	}
	return out, nil
}

// all lets each source take its samples.
func (r *run) all(ctx context.Context) (map[Source]*outcome, error) {
	outcomes := make(map[Source]*outcome)
	for _, s := range sourcesOf(r.Claims) {
		result, err := s.measure(ctx, r)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			reason := runner.OneLine([]byte(err.Error()))
			result = &outcome{why: func(string) string { return reason }}
			r.Watch.Note(fmt.Sprintf("%s: %s", s.ID(), reason))
		}
		outcomes[s] = result
		r.announce(s, result)
	}
	return outcomes, nil
}

// announce tells the observer the verdicts of the claims that a source has measured.
func (r *run) announce(s Source, out *outcome) {
	for _, c := range r.Claims {
		if c.From == s {
			result := c.judge(out)
			r.Watch.Judged(c, &result)
		}
	}
}

// sourcesOf lists the sources of claims, each once.
func sourcesOf(claims []*Claim) (list []Source) {
	seen := make(map[Source]bool)
	for _, c := range claims {
		if !seen[c.From] {
			seen[c.From] = true
			list = append(list, c.From)
		}
	}
	return list
}

// Committed is the file of the figures that the documents show.
func Committed(project string) string { return filepath.Join(project, "docs", "claims.json") }
