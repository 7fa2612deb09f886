package sqlitefile

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/pager"
)

// Batch joins small changes of many goroutines in one transaction. Update already joins
// transactions in one commit, so that they share its write and its sync. A batch also shares the
// rest: the turn to write, the begin and the end of a transaction, and the pages that all of its
// changes touch, which are copied and written once.
//
// The first caller leads. In its turn to write it runs its own function, then those of the callers
// that came meanwhile, until none waits. Then the next caller in the queue leads, and its
// transaction runs while the first one is committed:
//
//	caller 1   lead [fn1 fn2 fn3] commit......... done
//	caller 2   wait ............................. done
//	caller 3     wait ........................... done
//	caller 4               wait lead [fn4 fn5 fn6] commit ....... done
//	caller 5                 wait ............................... done
//	caller 6                    wait ............................ done
//
// Invariants:
//
//	Q1  Calls wait only while led is set, and then there is a goroutine that will take them.
//	Q2  A function that fails or panics ends its transaction. Every function of that transaction
//	    runs again, alone and in the goroutine of its caller.
//	Q3  No call returns before the transaction that its function ran in is over. Then everything
//	    that the function saw has happened as well.
type batcher struct {
	mu      sync.Mutex // guards the fields below
	led     bool
	waiting []*batchCall
	callers int // of Batch
}

// A batchCall is one call of Batch. Its caller waits for a token in done, after which the rest is
// its own again.
//
//	waiting --[take]--> taken by a leader: its function runs, or has run
//	waiting --[pass]--> leader of the next batch
//	waiting --[release]--> runs alone
//	waiting --[withdraw]--> its context was cancelled: its function never runs
type batchCall struct {
	ctx   context.Context
	fn    func(tx *Tx) error
	batch []*batchCall // of a leader: all calls of its transaction, itself first
	done  chan struct{}

	patience pager.Patience

	err   error
	alone bool // nothing of it has happened, and its function must run alone
	leads bool
}

var batchCalls = sync.Pool{New: func() any {
	return &batchCall{done: make(chan struct{}, 1), patience: pager.NewPatience()}
}}

// maxBatch is how many functions a transaction runs: its first caller waits for the last of them.
const maxBatch = 512

var (
	errBatchFailed   = errors.New("a function of the batch failed")
	errCommitUnknown = errors.New("whether the change was committed is not known, as Options.Trace panicked")
)

// Batch calls fn with a transaction, as [DB.Update] does, and may run it in one transaction
// together with the functions of other calls of Batch. That is faster if many goroutines make
// small changes at the same time, for example one insert each. A single caller gains nothing.
//
// If fn returns nil, everything that it did is committed when Batch returns nil. If it fails,
// nothing of it has happened, and Batch returns its error.
//
// The function may run more than once: if one function of a transaction fails or panics, the
// transaction is rolled back, and every function of it runs again, in a transaction of its own. An
// error and a panic therefore reach only their own caller. Changes that fn makes outside the
// database must not add up; for example, it should assign to variables and not append to them.
//
// The function may run on the goroutine of another caller. It must be short, must not wait for
// another transaction, and must not call [runtime.Goexit], as FailNow of a test does.
//
// If ctx is cancelled before fn has run, Batch returns its error and fn never runs. After that ctx
// does not matter, unless fn runs again, alone: then it is that of an Update.
func (db *DB) Batch(ctx context.Context, fn func(tx *Tx) error) error {
	c := batchCalls.Get().(*batchCall)
	c.ctx, c.fn, c.err, c.alone, c.leads = ctx, fn, nil, false, false
	b := &db.batches
	leads, company := b.join(c)
	defer b.leave()
	switch {
	case !leads:
		if err := b.wait(db, c); err != nil {
			return err
		}
	case company:
		runtime.Gosched() // goroutines that are ready to call Batch join this one
	}
	if leads || c.leads {
		b.lead(db, c)
	}
	err, alone := c.err, c.alone
	c.ctx, c.fn = nil, nil
	batchCalls.Put(c)
	if alone {
		return db.Update(ctx, fn)
	}
	return dberr.Explain(err)
}

// join adds a call, which leads if no other one does. Company reports whether there are other
// callers.
func (b *batcher) join(c *batchCall) (leads, company bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.callers++
	if leads = !b.led; leads {
		b.led = true
	} else {
		b.waiting = append(b.waiting, c)
	}
	return leads, b.callers > 1
}

func (b *batcher) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.callers--
}

// wait returns when the call has its token, or with the error of its context if that was cancelled
// while the call waited, or because one function has run for too long.
func (b *batcher) wait(db *DB, c *batchCall) (err error) {
	db.pager.BeginWait(&c.patience)
	defer c.patience.Look.Stop()
	for err == nil {
		select {
		case <-c.done:
			return nil
		case <-c.ctx.Done():
			err = c.ctx.Err()
		case <-c.patience.Look.C:
			err = c.patience.Lost(c.ctx)
		}
	}
	if b.withdraw(c) {
		return err // no other goroutine knows of the call any more
	}
	<-c.done
	return nil
}

// wake gives the caller its token.
func (c *batchCall) wake() { c.done <- struct{}{} }

// withdraw takes a call out of those that wait, and reports whether it was one of them.
func (b *batcher) withdraw(c *batchCall) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, other := range b.waiting {
		if other == c {
			b.waiting = append(b.waiting[:i], b.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// take appends the calls that wait to a batch. If there are none, or the batch is full, it is
// complete, and the next call leads.
func (b *batcher) take(batch []*batchCall) (_ []*batchCall, more bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := min(len(b.waiting), maxBatch-len(batch))
	if n == 0 {
		b.passLocked()
		return batch, false
	}
	batch = append(batch, b.waiting[:n]...)
	b.waiting = append(b.waiting[:0], b.waiting[n:]...)
	return batch, true
}

// pass lets the first of the calls that wait lead. If there are none, no call leads.
func (b *batcher) pass() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.passLocked()
}

// passLocked is pass for a caller that holds mu (Q1).
func (b *batcher) passLocked() {
	if b.led = len(b.waiting) > 0; b.led {
		next := b.waiting[0]
		b.waiting = append(b.waiting[:0], b.waiting[1:]...)
		next.leads = true
		next.wake()
	}
}

// release ends leading early: the functions of the calls that wait run alone.
func (b *batcher) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.waiting {
		c.alone = true
		c.wake()
	}
	b.waiting, b.led = b.waiting[:0], false
}

// lead runs the function of a call, and those of the calls that come meanwhile, in one transaction.
// It answers all of them, even if Options.Trace panics.
func (b *batcher) lead(db *DB, own *batchCall) {
	own.batch = append(own.batch[:0], own)
	ctx := &leaderContext{Context: own.ctx}
	leads := true
	err := errBatchFailed // unless the transaction comes to an end
	defer func() {
		switch {
		case leads && (!ctx.began.Load() || err == nil): // it is this caller that could not wait
			b.pass()
		case leads:
			b.release()
		}
		own.answer(err)
	}()
	err = db.Update(ctx, func(tx *Tx) error {
		ctx.began.Store(true)
		failed := b.run(tx, own)
		if failed == nil {
			leads = false
			err = errCommitUnknown // unless Update returns
		}
		return failed
	})
}

// A leaderContext is that of the caller who leads, until its transaction runs: that is not only its
// own, and is not cancelled.
type leaderContext struct {
	context.Context
	began atomic.Bool
}

func (c *leaderContext) Err() error {
	if c.began.Load() {
		return nil
	}
	return c.Context.Err()
}

func (c *leaderContext) Done() <-chan struct{} {
	if c.began.Load() {
		return nil
	}
	return c.Context.Done()
}

// run runs the functions of a batch, which grows meanwhile.
func (b *batcher) run(tx *Tx, own *batchCall) error {
	for i, more := 0, true; more; {
		for ; i < len(own.batch); i++ {
			if err := own.batch[i].run(tx); err != nil {
				return err
			}
		}
		own.batch, more = b.take(own.batch)
	}
	return nil
}

// run runs the function of one call. A call whose context is cancelled by now has nothing to do.
func (c *batchCall) run(tx *Tx) (err error) {
	defer func() {
		if recover() != nil {
			c.err, err = nil, errBatchFailed // Q2: it panics again where it came from
		}
	}()
	if c.err = c.ctx.Err(); c.err != nil {
		return nil
	}
	if c.err = c.fn(tx); c.err != nil {
		return errBatchFailed
	}
	return nil
}

// answer tells the calls of a batch how their transaction has ended, and wakes their callers (Q3).
func (c *batchCall) answer(err error) {
	failed := errors.Is(err, errBatchFailed)
	switch {
	case err == nil:
	case err == errCommitUnknown:
		for _, one := range c.batch {
			one.err = cmp.Or(one.err, err)
		}
	case len(c.batch) > 1 || failed && c.err == nil:
		for _, one := range c.batch {
			one.alone = true
		}
	case !failed:
		c.err = err // its own error may come from a state that was not committed
	}
	for _, one := range c.batch[1:] {
		one.wake()
	}
	clear(c.batch) // the calls are their callers' from now on
}
