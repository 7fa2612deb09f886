//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"sync"

	"github.com/foliofs/folio/internal/store"
)

// A notifyQueue sends FUSE notifications, each of which makes the kernel drop one target. Some must
// wait in the kernel: a name waits for the lock of its directory, which a request holds until it is
// answered, and a content waits for pages that are being read or written. Such a request may itself
// wait until another process has written. So each target is sent by a goroutine of its own, up to
// mostWorkers, and no target waits for another one.
//
// If a target is added while its notification is under way, it is sent once more.
type notifyQueue struct {
	send func(t target, content bool, tries int)

	mu      sync.Mutex // guards the fields below
	queue   []target
	state   map[target]*sending
	workers int
}

// mostWorkers is how many targets may wait in the kernel.
const mostWorkers = 64

// A target is an inode, or a name in a directory.
type target struct {
	ino   store.Ino // of the inode or of the directory
	name  string
	entry bool
}

// A sending is the state of a target that is in the queue, or being sent.
type sending struct {
	content bool // of the inode, too
	tries   int
	active  bool // it is being sent
	again   bool // it was added since
}

// add queues a target.
func (s *notifyQueue) add(t target, content bool, tries int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.state[t]; w != nil {
		w.content = w.content || content
		if w.active && !w.again {
			w.again, w.tries = true, tries
		}
		w.tries = min(w.tries, tries)
		return
	}
	if s.state == nil {
		s.state = make(map[target]*sending)
	}
	s.state[t] = &sending{content: content, tries: tries}
	s.push(t)
}

// push adds a target to the queue, and starts a worker if one may be started.
func (s *notifyQueue) push(t target) {
	s.queue = append(s.queue, t)
	if s.workers < mostWorkers {
		s.workers++
		go s.work()
	}
}

// work sends targets until there are none.
func (s *notifyQueue) work() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) > 0 {
		t := s.queue[0]
		s.queue = s.queue[1:]
		w := s.state[t]
		w.active = true
		content, tries := w.content, w.tries
		s.mu.Unlock()
		s.send(t, content, tries)
		s.mu.Lock()
		if !w.again {
			delete(s.state, t)
			continue
		}
		w.active, w.again = false, false
		s.push(t)
	}
	s.queue = nil
	s.workers--
}
