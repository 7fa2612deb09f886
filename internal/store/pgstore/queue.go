package pgstore

import (
	"sync"

	"github.com/foliofs/folio/internal/store"
)

// A batch holds the changes that wait for a leader.
type batch struct {
	leader  chan struct{} // holds one token, which a leader takes
	second  chan struct{} // holds one token for another leader, while many changes wait
	mu      sync.Mutex    // guards waiting
	waiting []*call
}

// manyWaiting is how many changes wait when another leader begins. Groups should not be small, as
// each costs a commit.
const manyWaiting = 48

func (b *batch) init() {
	b.leader, b.second = make(chan struct{}, 1), make(chan struct{}, 1)
	b.leader <- struct{}{}
	b.second <- struct{}{}
}

// A call is a change that waits.
type call struct {
	fn       func(tx store.Tx) error
	paths    []store.Path
	done     chan struct{} // closed when err and panicked are set
	ended    bool          // for the leader
	err      error
	panicked any
}

// maxGroup is how many changes a group has at most.
const maxGroup = 256

// add adds a change. many reports whether many changes wait.
func (b *batch) add(c *call) (many bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = append(b.waiting, c)
	return len(b.waiting) >= manyWaiting
}

// take takes the next group.
func (b *batch) take() []*call {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := min(len(b.waiting), maxGroup)
	group := b.waiting[:n:n]
	b.waiting = b.waiting[n:]
	return group
}

// end tells the caller that its change is done.
func (c *call) end(err error) {
	if c.ended {
		return
	}
	if err != nil {
		c.err = err
	}
	c.ended = true
	close(c.done)
}
