package source

import (
	"context"
	"io/fs"
	"runtime"
	"sync"
	"sync/atomic"
)

// Sizes that bound the memory of a pipeline: at most workers()+spareBatches arenas, and the chunks
// of few streams.
const (
	arenaSize    = 2 << 20 // bytes of contents in one batch
	smallSize    = 1 << 20 // larger contents are streams
	flushSize    = 1 << 20 // a batch with so many bytes of contents and names is sent on
	batchJobs    = 256     // so is one with this many entries
	spareBatches = 3
)

func workers() int { return max(2, min(8, runtime.GOMAXPROCS(0))) }

// A content is where the bytes of a file come from.
type content interface {
	// fill reads the content into p, all of it: a content of another length is an error. It may add
	// to the entry.
	fill(e *Entry, p []byte) error
	// feed writes the content to a stream, with the same error.
	feed(s *stream) error
	// drop is called instead of either when the content is not wanted any more.
	drop()
}

// A job is one entry on its way to the caller.
type job struct {
	entry   Entry
	content content // nil without one, or when the producer has read it
	data    []byte  // a part of the batch's arena
	stream  *stream // instead of data, for a large content
	err     error   // from content
}

// A batch is a run of jobs that goes through the pipeline as one. It comes back to the producer
// empty.
type batch struct {
	jobs  []job
	arena []byte
	used  int
	names int           // bytes of the paths of the entries
	done  chan struct{} // gets a token when a worker is through with it
}

// A pipeline carries entries from a producer to Walk's function, in order:
//
//	free -> producer -> todo -> workers -> done ---> run -> free
//	                 `-> order ---------------------^
//
// The number of batches is fixed, which bounds how far the producer reads ahead; todo and order
// have room for all of them, so only free and streams make anyone wait.
type pipeline struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	o       *Options
	free    chan *batch
	todo    chan *batch
	order   chan *batch
	cur     *batch // being filled; the producer's
	total   int64  // bytes announced so far; the producer's
	group   sync.WaitGroup
	passed  map[string]bool       // files that could not be read; the consumer's
	orphans map[string]bool       // hard links to files that are left out; the consumer's
	failed  atomic.Pointer[error] // of the producer; set before order is closed
}

// run starts produce on a goroutine of its own and calls fn for each entry it adds. It waits for
// its goroutines, except after an error of a source that may be stuck in a read.
func run(ctx context.Context, o *Options, stuck bool, produce func(*pipeline) error, fn func(*Entry) error) error {
	return runBatches(ctx, o, stuck, produce, func(p *pipeline, b *batch) error {
		for i := range b.jobs {
			if err := p.consumeJob(&b.jobs[i], fn); err != nil {
				return err
			}
		}
		return nil
	})
}

// runBatches is like run, but passes whole batches to fn.
func runBatches(
	ctx context.Context, o *Options, stuck bool, produce func(*pipeline) error, fn func(*pipeline, *batch) error,
) error {
	n := workers() + spareBatches
	p := &pipeline{
		o: o, free: make(chan *batch, n), todo: make(chan *batch, n), order: make(chan *batch, n),
	}
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	for range n {
		p.free <- &batch{done: make(chan struct{}, 1)}
	}
	for range workers() {
		p.group.Go(p.work)
	}
	p.group.Go(func() { p.produce(produce) })
	err := p.consume(fn)
	p.cancel(err)
	if err == nil || !stuck {
		p.group.Wait()
	}
	return err
}

func (p *pipeline) produce(produce func(*pipeline) error) {
	defer close(p.todo)
	defer close(p.order)
	err := produce(p)
	if err == nil {
		err = p.flush()
	} else if p.cur != nil {
		p.send()
	}
	if err != nil {
		p.failed.Store(&err)
	}
}

// add gives the pipeline an entry. The producer must not use it afterwards.
func (p *pipeline) add(e *Entry, c content) error {
	if c != nil && e.Size > smallSize {
		return p.addStream(e, c)
	}
	size := 0
	if c != nil {
		size = int(e.Size)
	}
	j, err := p.next(e, size)
	if err != nil {
		return err
	}
	j.content = c
	return p.flushFull()
}

// next returns the job for an entry with a small content, in a batch with room for it.
func (p *pipeline) next(e *Entry, size int) (*job, error) {
	if err := p.account(e); err != nil {
		return nil, err
	}
	if p.cur != nil && p.cur.used+size > arenaSize {
		if err := p.flush(); err != nil {
			return nil, err
		}
	}
	b, err := p.batch()
	if err != nil {
		return nil, err
	}
	if size > 0 && b.arena == nil {
		b.arena = make([]byte, arenaSize)
	}
	b.jobs = append(b.jobs, job{entry: *e, data: b.arena[b.used : b.used+size : b.used+size]})
	b.used += size
	b.names += len(e.Name) + len(e.Link)
	return &b.jobs[len(b.jobs)-1], nil
}

// addStream gives the pipeline an entry with a large content and sends the batch on, so that
// nothing waits behind it.
func (p *pipeline) addStream(e *Entry, c content) error {
	s := newStream(p.ctx)
	if err := p.addFed(e, s); err != nil {
		return err
	}
	p.group.Go(func() { s.close(c.feed(s)) })
	return nil
}

// addFed is addStream for a stream that the producer feeds itself.
func (p *pipeline) addFed(e *Entry, s *stream) error {
	if err := p.account(e); err != nil {
		return err
	}
	b, err := p.batch()
	if err != nil {
		return err
	}
	b.jobs = append(b.jobs, job{entry: *e, stream: s})
	return p.flush()
}

// account refuses an entry that goes beyond MaxSize.
func (p *pipeline) account(e *Entry) error {
	if e.Size < 0 || p.total > 1<<62-e.Size {
		return WrapEntry(e.Name, ErrTooLarge)
	}
	p.total += e.Size
	if p.o.MaxSize > 0 && p.total > p.o.MaxSize {
		return WrapEntry(e.Name, ErrTooLarge)
	}
	return nil
}

// batch returns the batch being filled, or waits for a free one.
func (p *pipeline) batch() (*batch, error) {
	if p.cur != nil {
		return p.cur, nil
	}
	select {
	case p.cur = <-p.free:
		return p.cur, nil
	case <-p.ctx.Done():
		return nil, context.Cause(p.ctx)
	}
}

func (p *pipeline) flushFull() error {
	if p.cur.used+p.cur.names < flushSize && len(p.cur.jobs) < batchJobs {
		return nil
	}
	return p.flush()
}

// flush sends on the batch being filled, if there is one.
func (p *pipeline) flush() error {
	if p.cur != nil {
		p.send()
	}
	return context.Cause(p.ctx)
}

func (p *pipeline) send() {
	b := p.cur
	p.cur = nil
	p.order <- b
	p.todo <- b
}

func (p *pipeline) work() {
	for b := range p.todo {
		for i := range b.jobs {
			p.fill(&b.jobs[i])
		}
		b.done <- struct{}{}
	}
}

func (p *pipeline) fill(j *job) {
	switch {
	case j.content == nil:
	case p.ctx.Err() != nil:
		j.content.drop()
	default:
		j.err = j.content.fill(&j.entry, j.data)
	}
}

// consume hands out the batches in order, and then the producer's error.
func (p *pipeline) consume(fn func(*pipeline, *batch) error) error {
	for {
		select {
		case b, ok := <-p.order:
			if !ok {
				return p.verdict()
			}
			if err := p.consumeBatch(b, fn); err != nil {
				return err
			}
		case <-p.ctx.Done():
			return context.Cause(p.ctx)
		}
	}
}

func (p *pipeline) verdict() error {
	if err := p.failed.Load(); err != nil {
		return *err
	}
	return nil
}

func (p *pipeline) consumeBatch(b *batch, fn func(*pipeline, *batch) error) error {
	select {
	case <-b.done:
	case <-p.ctx.Done():
		return context.Cause(p.ctx)
	}
	if err := fn(p, b); err != nil {
		return err
	}
	clear(b.jobs)
	b.jobs, b.used, b.names = b.jobs[:0], 0, 0
	p.free <- b
	return nil
}

// passOver leaves out an entry that cannot be read, and later its other names.
func (p *pipeline) passOver(j *job) error {
	e := &j.entry
	if p.passed[e.Link] && e.Link != "" {
		return p.o.passOver(e.Name, fs.ErrPermission)
	}
	if err := p.o.passOver(e.Name, j.err); err != nil {
		return WrapEntry(e.Name, err)
	}
	if p.passed == nil {
		p.passed = make(map[string]bool)
	}
	p.passed[e.Name] = true
	return nil
}

// drop passes over the content of a job, and returns its error.
func (j *job) drop() error {
	if j.stream != nil {
		return j.stream.finish()
	}
	return nil
}

func (p *pipeline) consumeJob(j *job, fn func(*Entry) error) error {
	e := &j.entry
	if err := context.Cause(p.ctx); err != nil {
		return err
	}
	if p.o.Exclude.below(e.Name, e.Mode.IsDir()) {
		return WrapEntry(e.Name, j.drop())
	}
	if p.orphaned(e) {
		return WrapEntry(e.Name, p.o.passOver(e.Name, ErrExcluded))
	}
	if j.err != nil || p.passed[e.Link] {
		return p.passOver(j)
	}
	e.Data = j.data
	if j.stream != nil {
		e.Content = j.stream
	}
	err := fn(e)
	if s := j.stream; s != nil && (err == nil || s.failed != nil) {
		return WrapEntry(e.Name, s.finish()) // the cause, whatever fn made of it
	}
	return err
}
