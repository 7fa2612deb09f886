// Package release decides when a store removes the orphans that are no longer pinned.
package release

import (
	"sync"
	"sync/atomic"

	"github.com/foliofs/folio/internal/store"
)

// A Queue holds the orphans that a store has unpinned. The goroutine that unpins one removes it,
// unless a write transaction of the store runs: that transaction may belong to this goroutine, or
// wait for it. Then the orphans are removed when the transaction ends. A transaction that begins
// during the removal may wait for the goroutine, too: the goroutine goes on then, and another one
// finishes the removal. A Queue is safe for concurrent use.
type Queue struct {
	updates atomic.Int64 // that run
	some    atomic.Bool  // list is not empty
	watched atomic.Bool  // begun is not nil; of Begin and watch, at least the later one sees the change of the other
	reaping sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	list   []store.Ino
	begun  chan struct{} // closed when a transaction begins; nil if no goroutine waits for that
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

// Begin counts a transaction that begins. A goroutine in Reap stops waiting, because the
// transaction may wait for it. The caller must call End.
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

// End says that a transaction has ended. It must follow each Begin.
func (q *Queue) End() { q.updates.Add(-1) }

// Reap calls reap, which empties the queue, on another goroutine. It waits for its end, but not
// longer than until a transaction begins. While a transaction runs, and after Close, it does
// nothing.
func (q *Queue) Reap(reap func()) {
	begun, ok := q.watch()
	if !ok {
		return
	}
	over := make(chan any, 1)
	go func() {
		defer q.reaping.Done()
		defer func() { over <- recover() }()
		reap()
	}()
	select {
	case <-begun:
	case panicked := <-over:
		if panicked != nil {
			panic(panicked)
		}
	}
}

// watch returns a channel that is closed when a transaction begins. ok reports whether no
// transaction runs and the queue is open; then the caller must call reaping.Done.
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
	q.reaping.Add(1)
	return q.begun, true
}

// Close waits for all calls of reap. None begins after it.
func (q *Queue) Close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.reaping.Wait()
}
