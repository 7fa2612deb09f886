package release

import (
	"io/fs"
	"sync"
)

// A Gate counts the calls that are inside, and closes when all have left.
type Gate struct {
	mu     sync.RWMutex // guards closed; held for reading to enter
	closed bool
	inside sync.WaitGroup
}

// Enter returns fs.ErrClosed after a call of Close. Otherwise the caller must call Leave.
func (g *Gate) Enter() error {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.closed {
		return fs.ErrClosed
	}
	g.inside.Add(1)
	return nil
}

// Leave ends a call that has entered.
func (g *Gate) Leave() { g.inside.Done() }

// Close turns away new calls and waits until all have left. A second call returns fs.ErrClosed.
func (g *Gate) Close() error {
	g.mu.Lock()
	again := g.closed
	g.closed = true
	g.mu.Unlock()
	if again {
		return fs.ErrClosed
	}
	g.inside.Wait()
	return nil
}
