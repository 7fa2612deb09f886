package native

import (
	"cmp"
	"errors"
	"runtime"
	"sync"

	"github.com/foliofs/folio/store"
)

// A gathering is where small changes of many goroutines come together. The first one who comes leads: in its turn to write it carries out whatever
// has come meanwhile, in one transaction, and wakes the others once that is committed. So the writer does not change hands for each of them, and
// a page that all of them change is written once.
//
// Invariants:
//
//	E1  Errands wait only while leads is set, and then there is a goroutine that will take them.
//	E2  An errand that fails after it changed something, or panics, ends its transaction: all errands of that are carried out again, each alone
//	    and by its own goroutine.
//	E3  No errand is answered before the transaction that it is a part of is over: then what it saw of others has happened, too.
type gathering struct {
	mu      sync.Mutex // guards what follows
	leads   bool
	waiting []*errand
	callers int // of Gather
}

// An errand is one change that is carried out with others.
type errand struct {
	fn    func(tx store.Tx) error
	batch []*errand     // of one who leads: all that are carried out with it, itself first
	done  chan struct{} // gets a token when what follows is there
	err   error
	alone bool // it has not happened, and is to be carried out alone
	heir  bool // so is this one, with others
}

var errands = sync.Pool{New: func() any { return &errand{done: make(chan struct{}, 1)} }}

// mostErrands is how many a transaction takes: who came first waits for the last of them.
const mostErrands = 512

var (
	errSpoiled = errors.New("a change failed half-way")
	errUnknown = errors.New("whether the change was committed is not known, as Options.Trace panicked")
)

// Gather implements store.Gatherer. What has a quota is not gathered: a change that meets it fails half-way.
func (s *Store) Gather(fn func(tx store.Tx) error) error {
	if s.limit != 0 {
		return s.Update(bg, fn)
	}
	e := errands.Get().(*errand)
	e.fn, e.err, e.alone, e.heir = fn, nil, false, false
	leads, company := s.gathering.join(e)
	defer s.gathering.leave()
	if !leads {
		<-e.done
		leads = e.heir
	} else if company {
		runtime.Gosched() // whoever is ready to write comes along
	}
	if leads {
		s.lead(e)
	}
	err, alone := e.err, e.alone
	e.fn = nil
	errands.Put(e)
	if alone {
		return s.Update(bg, fn)
	}
	return err
}

// join adds an errand, which leads if nobody else does. Company says that there are other callers.
func (g *gathering) join(e *errand) (leads, company bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.callers++
	if leads = !g.leads; leads {
		g.leads = true
	} else {
		g.waiting = append(g.waiting, e)
	}
	return leads, g.callers > 1
}

func (g *gathering) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.callers--
}

// take appends the errands that wait to a batch. If there are none, or the batch is full, that is all, and the next one leads.
func (g *gathering) take(batch []*errand) (_ []*errand, more bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := min(len(g.waiting), mostErrands-len(batch))
	if n == 0 {
		g.pass()
		return batch, false
	}
	batch = append(batch, g.waiting[:n]...)
	g.waiting = append(g.waiting[:0], g.waiting[n:]...)
	return batch, true
}

// pass lets the first of those who wait lead. If there are none, nobody does. The caller holds mu.
func (g *gathering) pass() {
	if g.leads = len(g.waiting) > 0; g.leads {
		heir := g.waiting[0]
		g.waiting = append(g.waiting[:0], g.waiting[1:]...)
		heir.heir = true
		heir.done <- struct{}{}
	}
}

// dismiss ends leading early: those who wait carry out their errands themselves.
func (g *gathering) dismiss() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, e := range g.waiting {
		e.alone = true
		e.done <- struct{}{}
	}
	g.waiting, g.leads = g.waiting[:0], false
}

// lead carries out an errand, and those of the others who come meanwhile.
func (s *Store) lead(own *errand) {
	own.batch = append(own.batch[:0], own)
	orphans, err := s.leadBatch(own)
	if err != nil {
		orphans = 0
	}
	s.tend(orphans)
}

// leadBatch carries out a batch and answers it, even if Options.Trace panics.
func (s *Store) leadBatch(own *errand) (orphans int, err error) {
	leads := true
	err = errUnknown // if nothing else comes to be known
	s.released.Begin()
	defer func() {
		s.released.End()
		if leads {
			s.gathering.dismiss()
		}
		own.answer(err)
	}()
	err = s.update(bg, func(t *tx) error {
		err := s.carryOut(t, own)
		leads, orphans = err != nil, t.orphans
		return err
	})
	return orphans, err
}

// carryOut carries out a batch, which grows meanwhile.
func (s *Store) carryOut(t *tx, own *errand) error {
	for i, more := 0, true; more; {
		for ; i < len(own.batch); i++ {
			if err := own.batch[i].carryOut(t); err != nil {
				return err
			}
		}
		own.batch, more = s.gathering.take(own.batch)
	}
	return nil
}

// carryOut carries out one errand of several.
func (e *errand) carryOut(t *tx) (err error) {
	defer func() {
		if recover() != nil {
			e.err, err = nil, errSpoiled // E2: let it panic where it came from
		}
	}()
	t.changed = false
	e.err = e.fn(t)
	if e.err = cmp.Or(e.err, t.failed); e.err != nil && t.changed {
		return errSpoiled
	}
	return nil
}

// answer tells those of a batch how its transaction has ended, and wakes the others.
func (e *errand) answer(err error) {
	switch {
	case err == nil:
	case err == errUnknown:
		for _, one := range e.batch {
			one.err = cmp.Or(one.err, err)
		}
	case len(e.batch) > 1 || e.err == nil && errors.Is(err, errSpoiled):
		for _, one := range e.batch {
			one.alone = true
		}
	case e.err == nil || !errors.Is(err, errSpoiled):
		e.err = err // what its own error says may come from what was not committed
	}
	for _, one := range e.batch[1:] {
		one.done <- struct{}{}
	}
	clear(e.batch) // they are others' from now on
}
