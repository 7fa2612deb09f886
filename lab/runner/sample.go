package runner

import (
	"cmp"
	"context"
	"errors"
	"os"
	"time"

	"github.com/foliofs/folio/lab/result"
	"github.com/foliofs/folio/lab/workload"
)

// sample takes one sample: a fresh process in a fresh directory, which is removed afterwards (rule
// 4).
func (r *run) sample(ctx context.Context, t turn) (_ *result.Sample, stderr string, err error) {
	dir, err := r.scratch[t.task.Dir].store()
	if err != nil {
		return nil, "", &ownError{err}
	}
	defer func() {
		if rerr := os.RemoveAll(dir); err == nil && rerr != nil {
			err = rerr
		}
	}()
	j := r.job(t, dir)
	before, err := r.guard(t.task)
	if err != nil {
		return nil, "", &ownError{err}
	}
	began := time.Now()
	s, stderr, err := r.talk(ctx, t, j)
	if changed := before.unchanged(); changed != nil {
		err = errors.Join(cmp.Or(err, changed), r.repair(ctx, t.task))
	}
	if err != nil {
		return nil, stderr, err
	}
	s.Round, s.Time = t.round, began.UTC()
	return s, "", nil
}

// talk takes a sample by the protocol.
func (r *run) talk(ctx context.Context, t turn, j *workload.Job) (*result.Sample, string, error) {
	e := t.participant
	p, err := start(ctx, r.o.Timeout, e.program)
	if err != nil {
		return nil, "", err
	}
	s, err := converse(p, t.task, e, j)
	if err = p.end(err); err != nil {
		return nil, p.stderr.String(), err
	}
	return s, "", nil
}

func (r *run) job(t turn, dir string) *workload.Job {
	return &workload.Job{
		Workload: t.task.workload.Name, API: t.participant.about.Name, Values: t.task.Values(), Group: t.task.Group,
		Dir: dir, DB: t.task.db, Statement: r.asked, Seed: r.o.Seed + uint64(t.round), Server: r.o.Server,
	}
}

// converse does the job by the protocol, and checks the contender's reply at every step.
func converse(p *process, t *task, e *participant, j *workload.Job) (*result.Sample, error) {
	reply, err := p.ask(workload.Request{Job: j})
	if err != nil {
		return nil, err
	}
	ready := reply.Ready
	if ready == nil {
		return nil, garbage("it did not say that it is ready")
	}
	if err := checkReady(t.workload, j, e.about.Kind, ready); err != nil {
		return nil, err
	}
	if reply, err = p.ask(workload.Request{Go: &workload.Go{}}); err != nil {
		return nil, err
	}
	if reply.Done == nil {
		return nil, garbage("it did not report its work")
	}
	if err := checkDone(t.workload, j, e.about.Kind, reply.Done); err != nil {
		return nil, err
	}
	return sampleRecord(t, e, ready, reply.Done), nil
}

func sampleRecord(t *task, e *participant, ready *workload.Ready, d *workload.Done) *result.Sample {
	s := &result.Sample{
		Case: t.ID, Contender: e.record.ID, Ops: d.Ops, Seconds: d.Seconds, Checked: d.Answer.Count,
		Latency: result.Latency{Timed: d.Timed, Curve: d.Curve}, Use: d.Use, Size: d.Size, Log: d.Log, Busy: d.Busy,
		WarmUp: ready.WarmUp, Settings: ready.Settings[0], Connections: len(ready.Settings),
	}
	l := &s.Latency
	places := map[float64]*time.Duration{0.5: &l.P50, 0.9: &l.P90, 0.99: &l.P99, 1: &l.Max}
	for _, q := range d.Curve {
		if at := places[q.At]; at != nil {
			*at = q.Time
		}
	}
	return s
}
