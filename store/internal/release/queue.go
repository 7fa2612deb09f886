// Package release says when a store removes the orphans that nobody holds any more.
package release

import (
	"sync"
	"sync/atomic"

	"github.com/foliofs/folio/store"
)

// A Queue holds orphans that a store does not hold any more. Whoever releases one has it removed, unless a transaction of the store runs: the end of
// that does then, as he may be in it, or be waited for there. One that begins meanwhile may wait for him, too: then he goes on, and a goroutine
// removes it. Safe for concurrent use.
type Queue struct {
	updates atomic.Int64 // that run
	some    atomic.Bool  // list is not empty
	watched atomic.Bool  // begun is not nil; of whoever begins and whoever watches at least the later one sees what the other did
	burying sync.WaitGroup

	mu     sync.Mutex // guards what follows
	list   []store.Ino
	begun  chan struct{} // closed when a transaction begins; nil if nobody waits for that
	closed bool
}

// Add adds an orphan.
func (q *Queue) Add(ino store.Ino) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.list = append(q.list, ino)
	q.some.Store(true)
}

// Take empties the queue.
func (q *Queue) Take() (list []store.Ino) {
	if !q.some.Load() {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	list, q.list = q.list, nil
	q.some.Store(false)
	return list
}

// Begin counts a transaction that begins, which may wait for whoever releases: he waits no longer. End has to follow.
func (q *Queue) Begin() {
	q.updates.Add(1)
	if !q.watched.Load() {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.begun != nil {
		close(q.begun)
		q.begun = nil
		q.watched.Store(false)
	}
}

// End ends what Begin began.
func (q *Queue) End() { q.updates.Add(-1) }

// Bury lets a goroutine call bury, which empties the queue, and waits for it, but not longer than until a transaction begins. While one runs, and
// after Close, it does nothing.
func (q *Queue) Bury(bury func()) {
	begun, ok := q.watch()
	if !ok {
		return
	}
	over := make(chan any, 1)
	go func() {
		defer q.burying.Done()
		defer func() { over <- recover() }()
		bury()
	}()
	select {
	case <-begun:
	case panicked := <-over:
		if panicked != nil {
			panic(panicked)
		}
	}
}

// watch returns a channel that is closed when a transaction begins, unless one runs or the queue is closed. If ok, burying.Done has to follow.
func (q *Queue) watch() (begun <-chan struct{}, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.begun == nil {
		q.begun = make(chan struct{})
		q.watched.Store(true)
	}
	if q.closed || q.updates.Load() > 0 {
		return nil, false
	}
	q.burying.Add(1)
	return q.begun, true
}

// Close waits for those who bury, of whom there are no more from now on.
func (q *Queue) Close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.burying.Wait()
}
