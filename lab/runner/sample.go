package runner

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/foliofs/folio/lab/result"
	"github.com/foliofs/folio/lab/workload"
)

// sample takes one sample: a fresh process in a fresh directory, which is removed afterwards (rule
// 4).
func (r *run) sample(ctx context.Context, t *task, a *attempt, round int) (_ *result.Sample, stderr string, err error) {
	dir, err := r.scratch[t.dir].store()
	if err != nil {
		return nil, "", &ownError{err}
	}
	defer func() {
		if rerr := os.RemoveAll(dir); err == nil && rerr != nil {
			err = rerr
		}
	}()
	j := r.job(t, a, dir, round)
	before, err := r.guard(t)
	if err != nil {
		return nil, "", &ownError{err}
	}
	began := time.Now()
	take := r.talk
	if t.workload.Process {
		take = r.processSample
	}
	s, stderr, err := take(ctx, t, a, j)
	if changed := before.unchanged(); changed != nil {
		if err == nil {
			err = changed
		}
		if repaired := r.repair(ctx, t); repaired != nil {
			err = errors.Join(err, repaired)
		}
	}
	if err != nil {
		return nil, stderr, err
	}
	s.Round, s.Time = round, began.UTC()
	return s, "", nil
}

// talk takes a sample of a process that speaks the protocol.
func (r *run) talk(ctx context.Context, t *task, a *attempt, j *workload.Job) (*result.Sample, string, error) {
	p, err := start(ctx, a.timeout, a.program.path, a.program.args...)
	if err != nil {
		return nil, "", err
	}
	s, err := converse(p, t, a.participant, j)
	if err = p.end(err); err != nil {
		return nil, p.stderr.String(), err
	}
	return s, "", nil
}

func (r *run) job(t *task, a *attempt, dir string, round int) *workload.Job {
	return &workload.Job{
		Workload: t.workload.Name, API: a.participant.about.Name, Values: t.values, Group: t.record.Group,
		Dir: dir, DB: t.db, Statement: r.asked, Seed: r.o.Seed + uint64(round), Server: r.o.Server,
		Profile: a.profile, Trace: a.trace != "",
	}
}

// converse does the job by the protocol, and checks the contender's reply at every step.
func converse(p *process, t *task, e *participant, j *workload.Job) (*result.Sample, error) {
	p.tell(workload.Request{Job: j})
	reply, err := p.reply()
	if err != nil {
		return nil, err
	}
	ready := reply.Ready
	if ready == nil {
		return nil, &failure{result.FailureGarbage, errors.New("it did not say that it is ready")}
	}
	if err := checkReady(t.workload, j, e.about.Kind, ready); err != nil {
		return nil, err
	}
	p.tell(workload.Request{Go: &workload.Go{}})
	if reply, err = p.reply(); err != nil {
		return nil, err
	}
	if reply.Done == nil {
		return nil, &failure{result.FailureGarbage, errors.New("it did not report its work")}
	}
	if err := checkDone(t.workload, j, e.about.Kind, reply.Done); err != nil {
		return nil, err
	}
	return sampleRecord(t, e, ready, reply.Done), nil
}

func sampleRecord(t *task, e *participant, ready *workload.Ready, d *workload.Done) *result.Sample {
	s := &result.Sample{
		Case: t.record.ID, Contender: e.record.ID, Ops: d.Ops, Seconds: d.Seconds, Checked: d.Answer.Count,
		Latency: result.Latency{Timed: d.Timed, Curve: d.Curve}, Use: d.Use, Size: d.Size, Log: d.Log, Busy: d.Busy,
		WarmUp: ready.WarmUp, Settings: ready.Settings[0], Connections: len(ready.Settings), Series: d.Series,
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
