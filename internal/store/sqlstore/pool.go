package sqlstore

import (
	"context"
	"sync"
)

// maxIdle is how many connections are kept that no transaction uses.
const maxIdle = 32

// A pool keeps the connections of read transactions. The connection that was used last is used
// next: its caches are warm, and it knows its version.
type pool struct {
	store   *Store
	permits chan struct{} // one for each connection that the DB allows; nil if it allows any number

	mu   sync.Mutex // guards idle
	idle []*conn
}

// init makes a pool, of at most limit connections if that is not 0.
func (p *pool) init(s *Store, limit int) {
	p.store = s
	if limit > 0 {
		p.permits = make(chan struct{}, limit)
	}
}

// take returns a connection. If the DB has a limit, take waits until a transaction returns its
// connection.
func (p *pool) take(ctx context.Context) (*conn, error) {
	if p.permits != nil {
		select {
		case p.permits <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if c := p.pop(); c != nil {
		return c, nil
	}
	c, err := p.store.connect(ctx, "PRAGMA query_only = 1")
	if err != nil {
		p.release()
	}
	return c, err
}

func (p *pool) pop() *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.idle) - 1
	if last < 0 {
		return nil
	}
	c := p.idle[last]
	p.idle = p.idle[:last]
	return c
}

// give takes a connection back, which is not in a transaction.
func (p *pool) give(c *conn) {
	if !p.push(c) {
		c.discard()
	}
	p.release()
}

func (p *pool) push(c *conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) == maxIdle {
		return false
	}
	p.idle = append(p.idle, c)
	return true
}

// drop takes back a connection that must not be used again.
func (p *pool) drop(c *conn) {
	c.discard()
	p.release()
}

func (p *pool) release() {
	if p.permits != nil {
		<-p.permits
	}
}

// close closes the connections. All have been given back.
func (p *pool) close() {
	for c := p.pop(); c != nil; c = p.pop() {
		c.discard()
	}
}
