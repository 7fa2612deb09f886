package pager

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// A call is a call of Update that found another transaction running. A goroutine of the pager runs
// all waiting calls, one after the other. To wake each caller instead would take longer than most
// transactions do, and they would all run on one processor.
//
//	waiting --[claim]--> claimed: it runs, or has run; its caller waits until it is over
//	waiting --[withdraw]--> withdrawn: its caller's ctx was cancelled, and it never runs
type call struct {
	ctx   context.Context
	tx    *Tx
	work  Work
	state atomic.Uint32
	outcome
	patience Patience
}

const (
	callWaiting uint32 = iota
	callClaimed
	callWithdrawn
)

func (e *call) claim() bool { return e.state.CompareAndSwap(callWaiting, callClaimed) }

func (e *call) withdraw() bool { return e.state.CompareAndSwap(callWaiting, callWithdrawn) }

// wait returns when the call is over, or was withdrawn because its ctx was cancelled, or because
// one function has run for too long.
func (e *call) wait(t *turns) (err error) {
	e.patience.begin(t)
	defer e.patience.Look.Stop()
	for err == nil {
		select {
		case <-e.over:
			return nil
		case <-e.ctx.Done():
			err = e.ctx.Err()
		case <-e.patience.Look.C:
			err = e.patience.Lost(e.ctx)
		}
	}
	if e.withdraw() {
		return err
	}
	<-e.over
	return nil
}

// callPool keeps calls whose callers have gone on.
var callPool = sync.Pool{New: func() any {
	return &call{outcome: outcome{over: make(chan struct{}, 1)}, patience: NewPatience()}
}}

// enqueue lets work be done when its turn comes, and returns once it is committed.
func (q *callQueue) enqueue(ctx context.Context, tx *Tx, work Work) error {
	e := callPool.Get().(*call)
	e.ctx, e.tx, e.work = ctx, tx, work
	if q.add(e) {
		go q.serve()
	}
	if err := e.wait(&q.commits.writer.turns); err != nil {
		return err // serve still knows of it
	}
	o := e.outcome
	*e = call{outcome: outcome{over: e.over}, patience: e.patience}
	callPool.Put(e)
	switch {
	case o.panicked != nil:
		panic(o.panicked)
	case o.exited:
		runtime.Goexit()
	case o.lead != nil:
		return q.commits.lead(o.lead)
	}
	return o.err
}

// serve runs calls until none waits.
func (q *callQueue) serve() {
	over := false
	defer func() {
		if !over { // a call has ended this goroutine
			go q.serve()
		}
	}()
	for !over {
		q.serveWaiting()
		over = q.idle()
	}
}

// serveWaiting runs the waiting calls.
func (q *callQueue) serveWaiting() {
	w := q.commits.writer
	<-w.writeLock
	defer func() { w.writeLock <- struct{}{} }()
	for range q.count() {
		if e := q.next(); e.claim() {
			q.run(e)
		}
	}
}

// run runs a call. The caller must hold the write lock.
func (q *callQueue) run(e *call) {
	var g *group
	first, returned := false, false
	defer func() {
		if !returned {
			e.panicked = recover()
			e.exited = e.panicked == nil
		}
		switch {
		case g == nil:
		case !first:
			g.calls = append(g.calls, &e.outcome) // whose commit it is over with
			return
		default:
			e.lead = g
		}
		e.over <- struct{}{}
	}()
	g, first, e.err = q.commits.transact(e.ctx, e.tx, e.work)
	returned = true
}

// callQueue holds the waiting calls, in order.
type callQueue struct {
	commits *committer

	mu     sync.Mutex
	list   []*call
	from   int  // of the list, where those begin that still wait
	served bool // a goroutine looks at them
}

// add adds a call, and reports whether no goroutine serves the queue yet.
func (q *callQueue) add(e *call) (first bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.list = append(q.list, e)
	first, q.served = !q.served, true
	return first
}

// next takes the first waiting call. There must be one.
func (q *callQueue) next() *call {
	q.mu.Lock()
	defer q.mu.Unlock()
	e := q.list[q.from]
	q.list[q.from] = nil
	if q.from++; q.from == len(q.list) {
		q.list, q.from = q.list[:0], 0
	}
	return e
}

func (q *callQueue) count() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.list) - q.from
}

// idle reports whether no call waits. Then the queue is not served any more.
func (q *callQueue) idle() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.served = q.from < len(q.list)
	return !q.served
}
