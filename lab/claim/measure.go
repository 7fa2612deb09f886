package claim

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/foliofs/folio/lab/runner"
)

// Measure takes all samples that the claims need, one source after the other, and judges. What was measured before something went wrong, or ctx
// was done, is in the files of the run, from which another goes on.
func Measure(ctx context.Context, o *Options) (*Report, error) {
	defer o.Watch.Ended()
	if o.Samples < 1 {
		return nil, fmt.Errorf("--samples %d: it takes a number above 0", o.Samples)
	}
	machine, dirs, err := runner.Here(o.Project, o.Dirs)
	if err != nil {
		return nil, err
	}
	out := &Report{
		Header:  Header{Command: o.Command, Started: time.Now().UTC(), Quick: o.Quick, Samples: o.Samples, Machine: machine, Dirs: dirs},
		Seconds: make(map[string]float64),
	}
	r := &run{Options: o}
	if err := r.prepare(&out.Header); err != nil {
		return nil, err
	}
	for _, d := range dirs {
		if w := d.Warning(); w != "" {
			o.Watch.Note(w)
		}
	}
	outcomes, err := r.all(ctx, out)
	if err != nil {
		return nil, err
	}
	for _, c := range o.Claims {
		out.Results = append(out.Results, c.judge(outcomes[c.From]))
	}
	return out, nil
}

// all lets each source take its samples.
func (r *run) all(ctx context.Context, out *Report) (map[Source]*outcome, error) {
	sources := sourcesOf(r.Claims)
	if err := r.schedule(sources); err != nil {
		return nil, err
	}
	outcomes := make(map[Source]*outcome)
	for _, s := range sources {
		r.plan.begin()
		start := time.Now()
		result, err := s.measure(ctx, r)
		out.Seconds[s.ID()] = r.seconds(s, time.Since(start))
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			reason := oneLine(err.Error())
			result = &outcome{why: func(string) string { return reason }}
			r.Watch.Note(fmt.Sprintf("%s: %s", s.ID(), reason))
		}
		outcomes[s] = result
		r.announce(s, result)
		r.plan.end(s.ID(), time.Since(start))
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

// seconds is what a sample of a source took, what it took before an interruption included.
func (r *run) seconds(s Source, took time.Duration) float64 {
	path := filepath.Join(r.Out, s.ID()+".took")
	var spent float64
	_ = readJSON(path, &spent) // none yet
	spent += took.Seconds()
	if err := writeJSON(path, spent); err != nil {
		r.Watch.Note(err.Error())
	}
	return spent / float64(r.Samples)
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

// schedule expects every source to take as long as it did when the committed figures were made.
func (r *run) schedule(sources []Source) error {
	before, err := ReadFile(Committed(r.Project))
	if errors.Is(err, fs.ErrNotExist) {
		before, err = &Report{}, nil
	}
	if err != nil {
		return err
	}
	r.plan = schedule{took: before.Seconds, samples: r.Samples}
	for _, s := range sources {
		r.plan.rest = append(r.plan.rest, s.ID())
	}
	return nil
}
