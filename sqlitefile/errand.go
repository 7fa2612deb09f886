package sqlitefile

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// An errand is a transaction whose caller found another one running. A goroutine of the writer's runs all that wait, one after the other: to wake
// each caller for its turn would take longer than most transactions do, and they would all run on one processor.
//
//	waiting --[claim]--> claimed: it runs, or has run; its caller waits until it is over
//	waiting --[withdraw]--> withdrawn: its caller's ctx was cancelled, and it never runs
type errand struct {
	ctx   context.Context
	fn    func(tx *Tx) error
	state atomic.Uint32
	over  chan struct{} // told once the caller may go on
	outcome
}

// An outcome is what an errand came to.
type outcome struct {
	lead     *group // for its caller to commit, as the first of it
	err      error
	panicked any  // what fn panicked with; it goes on panicking where its caller is
	exited   bool // fn ended its goroutine; its caller ends as well
}

const (
	errandWaiting uint32 = iota
	errandClaimed
	errandWithdrawn
)

func (e *errand) claim() bool { return e.state.CompareAndSwap(errandWaiting, errandClaimed) }

func (e *errand) withdraw() bool { return e.state.CompareAndSwap(errandWaiting, errandWithdrawn) }

// wait returns when the errand is over, or was withdrawn because its ctx was cancelled.
func (e *errand) wait() error {
	select {
	case <-e.over:
		return nil
	case <-e.ctx.Done():
	}
	if e.withdraw() {
		return e.ctx.Err()
	}
	<-e.over
	return nil
}

// errandPool keeps errands whose callers have gone on.
var errandPool = sync.Pool{New: func() any { return &errand{over: make(chan struct{}, 1)} }}

// send lets fn run when its turn comes, and returns once it is committed.
func (db *DB) send(ctx context.Context, fn func(tx *Tx) error) error {
	e := errandPool.Get().(*errand)
	e.ctx, e.fn = ctx, fn
	if db.writer.errands.add(e) {
		go db.serve()
	}
	if err := e.wait(); err != nil {
		return err // serve still knows of it
	}
	o := e.outcome
	*e = errand{over: e.over}
	errandPool.Put(e)
	switch {
	case o.panicked != nil:
		panic(o.panicked)
	case o.exited:
		runtime.Goexit()
	case o.lead != nil:
		return db.lead(o.lead)
	}
	return o.err
}

// serve runs errands until none waits.
func (db *DB) serve() {
	over := false
	defer func() {
		if !over { // an errand has ended this goroutine
			go db.serve()
		}
	}()
	for !over {
		db.serveWaiting()
		over = db.writer.errands.idle()
	}
}

// serveWaiting runs those that wait now.
func (db *DB) serveWaiting() {
	w := &db.writer
	<-w.turn
	defer func() { w.turn <- struct{}{} }()
	for range w.errands.count() {
		if e := w.errands.next(); e.claim() {
			db.do(e)
		}
	}
}

// do runs an errand. The caller has the turn.
func (db *DB) do(e *errand) {
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
			g.errands = append(g.errands, e) // whose commit it is over with
			return
		default:
			e.lead = g
		}
		e.over <- struct{}{}
	}()
	g, first, e.err = db.transact(e.ctx, e.fn)
	returned = true
}

// errands are those that wait, in order.
type errands struct {
	mu     sync.Mutex
	list   []*errand
	from   int  // of the list, where those begin that still wait
	served bool // a goroutine looks at them
}

// add adds an errand, and reports whether nobody looks at them yet.
func (q *errands) add(e *errand) (first bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.list = append(q.list, e)
	first, q.served = !q.served, true
	return first
}

// next takes the first of those that wait, of which there is one.
func (q *errands) next() *errand {
	q.mu.Lock()
	defer q.mu.Unlock()
	e := q.list[q.from]
	q.list[q.from] = nil
	if q.from++; q.from == len(q.list) {
		q.list, q.from = q.list[:0], 0
	}
	return e
}

func (q *errands) count() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.list) - q.from
}

// idle reports whether none waits. Then nobody looks at them any more.
func (q *errands) idle() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.served = q.from < len(q.list)
	return !q.served
}
