package tree

import (
	"cmp"
	"context"
	"io"
	"io/fs"
	"runtime"
	"sync"
	"sync/atomic"
)

// Sizes that bound the memory of a pipeline: at most Workers()+spareBatches arenas, and the chunks
// of few streams.
const (
	arenaSize    = 2 << 20 // bytes of contents in one batch
	SmallSize    = 1 << 20 // the largest content in a batch; larger ones are streams
	flushSize    = 1 << 20 // a batch with so many bytes of contents and names is sent on
	batchJobs    = 256     // so is one with this many entries
	spareBatches = 3
)

// Workers is how many goroutines read files at a time.
func Workers() int { return max(2, min(8, runtime.GOMAXPROCS(0))) }

// A Content is where the bytes of a file come from.
type Content interface {
	// Fill reads the content into p, all of it: a content of another length is an error. It may add
	// to the entry.
	Fill(e *Entry, p []byte) error
	// Feed writes the content to a stream, with the same error.
	Feed(s *Stream) error
	// Drop is called instead of either when the content is not wanted any more.
	Drop()
}

// A job is one entry on its way to the caller.
type job struct {
	entry   Entry
	content Content // nil without one, or when the producer has read it
	data    []byte  // a part of the batch's arena
	stream  *Stream // instead of data, for a large content
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

// A Pipeline carries entries from a producer to Walk's function, in order:
//
//	free -> producer -> todo -> workers -> done ---> run -> free
//	                 `-> order ---------------------^
//
// The number of batches is fixed, which bounds how far the producer reads ahead; todo and order
// can hold all of them, so goroutines wait only for free and for streams.
type Pipeline struct {
	Ctx     context.Context // ends with the first error
	cancel  context.CancelCauseFunc
	Options *Options
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

// Run starts produce on a goroutine of its own and calls fn for each entry it adds. It waits for
// its goroutines, except after an error of a source that may be stuck in a read.
func Run(ctx context.Context, o *Options, stuck bool, produce func(*Pipeline) error, fn func(*Entry) error) error {
	return runBatches(ctx, o, stuck, produce, func(p *Pipeline, b *batch) error {
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
	ctx context.Context, o *Options, stuck bool, produce func(*Pipeline) error, fn func(*Pipeline, *batch) error,
) error {
	n := Workers() + spareBatches
	p := &Pipeline{
		Options: o, free: make(chan *batch, n), todo: make(chan *batch, n), order: make(chan *batch, n),
	}
	p.Ctx, p.cancel = context.WithCancelCause(ctx)
	for range n {
		p.free <- &batch{done: make(chan struct{}, 1)}
	}
	for range Workers() {
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

// produce runs the producer. After an error it sends on the batch that it has: entries before the
// error still count.
func (p *Pipeline) produce(produce func(*Pipeline) error) {
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

// Add gives the pipeline an entry. The producer must not use it afterwards.
func (p *Pipeline) Add(e *Entry, c Content) error {
	if c != nil && e.Size > SmallSize {
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

// next returns the job for an entry with a small content, in a batch with space for it.
func (p *Pipeline) next(e *Entry, size int) (*job, error) {
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
func (p *Pipeline) addStream(e *Entry, c Content) error {
	s := newStream(p.Ctx)
	if err := p.addFed(e, s); err != nil {
		return err
	}
	p.group.Go(func() { s.close(c.Feed(s)) })
	return nil
}

// AddRead gives the pipeline a regular file whose content the producer itself reads, before it goes
// on. An error of reading is what cause makes of it.
func (p *Pipeline) AddRead(e *Entry, r io.Reader, cause func(error) error) error {
	if e.Size > SmallSize {
		s := newStream(p.Ctx)
		if err := p.addFed(e, s); err != nil {
			return err
		}
		err := cause(s.CopyAll(r, e.Size))
		s.close(err)
		return err
	}
	j, err := p.next(e, int(e.Size))
	if err != nil {
		return err
	}
	j.err = cause(ReadExactly(r, j.data))
	return p.flushFull()
}

// Go runs a function of the producer on a goroutine, for which the pipeline waits.
func (p *Pipeline) Go(fn func()) { p.group.Go(fn) }

// addFed adds an entry with a stream that another goroutine feeds.
func (p *Pipeline) addFed(e *Entry, s *Stream) error {
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
func (p *Pipeline) account(e *Entry) error {
	if e.Size < 0 || p.total > 1<<62-e.Size {
		return WrapEntry(e.Name, ErrTooLarge)
	}
	p.total += e.Size
	if p.Options.MaxSize > 0 && p.total > p.Options.MaxSize {
		return WrapEntry(e.Name, ErrTooLarge)
	}
	return nil
}

// batch returns the batch being filled, or waits for a free one.
func (p *Pipeline) batch() (*batch, error) {
	if p.cur != nil {
		return p.cur, nil
	}
	select {
	case p.cur = <-p.free:
		return p.cur, nil
	case <-p.Ctx.Done():
		return nil, context.Cause(p.Ctx)
	}
}

func (p *Pipeline) flushFull() error {
	if p.cur.used+p.cur.names < flushSize && len(p.cur.jobs) < batchJobs {
		return nil
	}
	return p.flush()
}

// flush sends on the batch being filled, if there is one.
func (p *Pipeline) flush() error {
	if p.cur != nil {
		p.send()
	}
	return context.Cause(p.Ctx)
}

func (p *Pipeline) send() {
	b := p.cur
	p.cur = nil
	p.order <- b
	p.todo <- b
}

func (p *Pipeline) work() {
	for b := range p.todo {
		for i := range b.jobs {
			p.fill(&b.jobs[i])
		}
		b.done <- struct{}{}
	}
}

func (p *Pipeline) fill(j *job) {
	switch {
	case j.content == nil:
	case p.Ctx.Err() != nil:
		j.content.Drop()
	default:
		j.err = j.content.Fill(&j.entry, j.data)
	}
}

// consume hands out the batches in order, and then the producer's error.
func (p *Pipeline) consume(fn func(*Pipeline, *batch) error) error {
	for {
		select {
		case b, ok := <-p.order:
			if !ok {
				return p.producerError()
			}
			if err := p.consumeBatch(b, fn); err != nil {
				return err
			}
		case <-p.Ctx.Done():
			return context.Cause(p.Ctx)
		}
	}
}

func (p *Pipeline) producerError() error {
	if err := p.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// consumeBatch waits until the workers are through with a batch, passes it to fn, and gives it back
// to the producer.
func (p *Pipeline) consumeBatch(b *batch, fn func(*Pipeline, *batch) error) error {
	select {
	case <-b.done:
	case <-p.Ctx.Done():
		return context.Cause(p.Ctx)
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
func (p *Pipeline) passOver(j *job) error {
	e := &j.entry
	if p.passed[e.Link] && e.Link != "" {
		return p.Options.PassOver(e.Name, fs.ErrPermission)
	}
	if err := p.Options.PassOver(e.Name, j.err); err != nil {
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

// consumeJob passes an entry to fn, unless it is excluded or could not be read.
func (p *Pipeline) consumeJob(j *job, fn func(*Entry) error) error {
	e := &j.entry
	if err := context.Cause(p.Ctx); err != nil {
		return err
	}
	if p.Options.Exclude.Below(e.Name, e.Mode.IsDir()) {
		return WrapEntry(e.Name, j.drop())
	}
	if p.orphaned(e) {
		return WrapEntry(e.Name, p.Options.PassOver(e.Name, ErrExcluded))
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

// RunBatches is like Run, but calls fn with several entries at a time. Only the last one may have a
// Content. If an entry could not be read, it has an Err.
func RunBatches(ctx context.Context, o *Options, produce func(*Pipeline) error, fn func([]*Entry) error) error {
	return runBatches(ctx, o, false, produce, func(p *Pipeline, b *batch) error { return p.consumeEntries(b, fn) })
}

// consumeEntries passes all entries of a batch to fn.
func (p *Pipeline) consumeEntries(b *batch, fn func([]*Entry) error) error {
	entries := make([]*Entry, len(b.jobs))
	for i := range b.jobs {
		j := &b.jobs[i]
		entries[i] = &j.entry
		j.entry.Data, j.entry.Err = j.data, cmp.Or(j.entry.Err, j.err)
		if j.stream != nil {
			j.entry.Content = j.stream
		}
	}
	if err := context.Cause(p.Ctx); err != nil {
		return err
	}
	err := fn(entries)
	if s := b.jobs[len(b.jobs)-1].stream; s != nil && err == nil {
		_ = s.finish() // fn has seen its error, or did not read so far
	}
	return err
}
