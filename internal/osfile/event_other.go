//go:build !linux

package osfile

import (
	"sync"
	"time"
)

// An Event lets one goroutine wait until another one sets it. The zero Event is not set.
type Event struct {
	once sync.Once
	set  chan struct{}
}

func (e *Event) init() { e.set = make(chan struct{}, 1) }

// Set sets the event, which must not be set.
func (e *Event) Set() {
	e.once.Do(e.init)
	e.set <- struct{}{}
}

// Wait returns when the event is set, and unsets it.
func (e *Event) Wait() {
	e.once.Do(e.init)
	<-e.set
}

// WaitFor is Wait, but gives up after d. It reports whether the event was set.
func (e *Event) WaitFor(d time.Duration) bool {
	e.once.Do(e.init)
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-e.set:
		return true
	case <-t.C:
		return false
	}
}
