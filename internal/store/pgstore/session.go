package pgstore

import (
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/foliofs/folio/internal/store"
)

// A session is a Store in the eyes of the others: a row that says when it was seen last, by the
// clock of the server. A session that was not seen for the time of its lease is dead, and any other
// one removes it.
//
// An inode that loses its last name becomes an orphan, by a row with the sessions that may have it
// open: all that live. Each of them takes itself off that list when it finds that it has not pinned
// the inode, and an orphan for which no living session waits is removed.
//
// Why a pinned inode is never removed: the orphan was committed before a session looks for it, and
// a caller that pins the inode after that look must read it again, and finds that it has no name. A
// session that begins waits for the transactions that write, so the list of an orphan has every
// session that could have found its name.
type session struct {
	s *Store
	background
	kick chan struct{} // that there are orphans to remove
	look chan struct{} // that it is time to look for orphans

	touching sync.Mutex // held by a goroutine that makes a heartbeat; guards failed and ended; before mu
	failed   error      // of the last heartbeat
	ended    time.Time  // when that was

	mu     sync.Mutex // guards the fields below
	id     int64
	seen   time.Time              // the server has seen the session then, or later
	others bool                   // there are further sessions, or were a short time ago
	heard  bool                   // there are listeners, likewise
	marked map[store.Ino]struct{} // orphans that wait for this session, as far as it knows
}

// reapDelay is how long the goroutine waits for further orphans.
const reapDelay = 50 * time.Millisecond

// orphaned notes orphans of a transaction that was committed.
func (n *session) orphaned(list []store.Ino) {
	if len(list) == 0 {
		return
	}
	n.mark(list)
	select {
	case n.kick <- struct{}{}:
	default:
	}
}

func (n *session) mark(list []store.Ino) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.marked == nil {
		n.marked = make(map[store.Ino]struct{})
	}
	for _, ino := range list {
		n.marked[ino] = struct{}{}
	}
}

// unmark forgets orphans that do not wait for this session any more.
func (n *session) unmark(list []store.Ino) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, ino := range list {
		delete(n.marked, ino)
	}
}

// anyMarked reports whether one of some inodes is an orphan that waits for this session.
func (n *session) anyMarked(list []store.Ino) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.ContainsFunc(list, func(ino store.Ino) bool { _, ok := n.marked[ino]; return ok })
}

// unpinned returns the orphans that wait for this session and that it has not pinned.
func (n *session) unpinned() (list []store.Ino) {
	n.mu.Lock()
	for ino := range n.marked {
		list = append(list, ino)
	}
	n.mu.Unlock()
	return slices.DeleteFunc(list, n.s.pins.pinned)
}

// mayWait reports whether an inode may be an orphan that waits for this session.
func (n *session) mayWait(ino store.Ino) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	_, marked := n.marked[ino]
	return marked || n.others
}

func (n *session) number() int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.id
}

// isHeard reports whether there may be listeners.
func (n *session) isHeard() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.heard
}

// name is what notices of its changes say.
func (n *session) name() string { return strconv.FormatInt(n.number(), 10) }

func (n *session) began(id, sessions, listeners int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if id != 0 {
		n.id = id
	}
	n.others = sessions > 1
	n.heard = listeners > 0
}

// pins are the inodes that this Store has pinned because files are open. Only the Store knows them:
// to pin an inode takes no trip, unless the server has not heard of the session for long.
type pins struct {
	mu     sync.Mutex // guards inodes
	inodes map[store.Ino]int
}

// remove ends one pin, and reports whether that was the last one of the inode.
func (h *pins) remove(ino store.Ino) (last bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.inodes[ino]--; h.inodes[ino] > 0 {
		return false
	}
	delete(h.inodes, ino)
	return true
}

func (h *pins) pinned(ino store.Ino) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.inodes[ino] > 0
}
