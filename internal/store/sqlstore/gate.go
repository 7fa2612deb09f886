package sqlstore

import (
	"io/fs"
	"sync"
)

// A gate counts the calls that are inside, and closes when all have left.
type gate struct {
	mu     sync.Mutex // guards the fields below
	in     int
	closed bool
	empty  chan struct{} // closed when the last call leaves; nil unless close waits
}

// enter fails with fs.ErrClosed once close was called. Otherwise leave must follow.
func (g *gate) enter() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return fs.ErrClosed
	}
	g.in++
	return nil
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.in--; g.in == 0 && g.empty != nil {
		close(g.empty)
	}
}

// close turns away new calls and waits until all have left. A second time it fails with
// fs.ErrClosed.
func (g *gate) close() error {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return fs.ErrClosed
	}
	g.closed = true
	empty := make(chan struct{})
	if g.in > 0 {
		g.empty = empty
	} else {
		close(empty)
	}
	g.mu.Unlock()
	<-empty
	return nil
}
