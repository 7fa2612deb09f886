package pgstore

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/foliofs/folio/store"
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
	s      *Store
	cancel context.CancelFunc
	ended  chan struct{} // closed when the goroutine has ended; nil if there is none
	kick   chan struct{} // that there are orphans to remove

	mu     sync.Mutex // guards the fields below
	id     int64
	others bool                   // there are further sessions, or were a short time ago
	heard  bool                   // there are listeners, likewise
	marked map[store.Ino]struct{} // orphans that wait for this session, as far as it knows
}

// begin starts the goroutine that shows that the session lives.
func (n *session) begin(s *Store) {
	ctx, cancel := context.WithCancel(bg)
	n.s, n.cancel, n.ended, n.kick = s, cancel, make(chan struct{}), make(chan struct{}, 1)
	go n.run(ctx)
}

// stop ends the goroutine.
func (n *session) stop() {
	if n.ended != nil {
		n.cancel()
		<-n.ended
	}
}

// reapDelay is how long the goroutine waits for further orphans.
const reapDelay = 50 * time.Millisecond

func (n *session) run(ctx context.Context) {
	defer close(n.ended)
	beat := time.NewTicker(max(time.Millisecond, n.s.lease/3))
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			_ = n.s.beat(ctx) // the next one comes soon
		case <-n.kick:
			select {
			case <-ctx.Done():
				return
			case <-time.After(reapDelay):
				_ = n.s.reap(ctx, n.unpinned())
			}
		}
	}
}

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

// register adds the session, after it has removed those that are dead. It removes the orphans for
// which no session waits.
func (s *Store) register(ctx context.Context, c *pgx.Conn) error {
	var id, sessions, listeners int64
	err := s.trip(ctx, c, do(beginWrite), s.lockStep(), do(expireSessions),
		step{statement: addSession, args: []any{s.lease.Microseconds()}, row: numberInto(&id)},
		step{statement: countSessions, row: numberInto(&sessions)}, s.countListeners(&listeners), do(commit))
	if err != nil {
		_ = s.trip(ctx, c, do(rollback))
		return err
	}
	s.session.s = s
	s.session.began(id, sessions, listeners)
	_ = s.reapOn(ctx, c, nil) // if that fails, another session does it
	return nil
}

// unregister removes the session, and the orphans for which no session waits then.
func (s *Store) unregister() {
	if s.session.ended == nil {
		return
	}
	ctx, cancel := context.WithTimeout(bg, s.timeout)
	defer cancel()
	c, err := s.connect(ctx, 1, do(removeSession, s.session.number()))
	if err != nil {
		return // it is dead when its lease has ended
	}
	defer s.abandon(c)
	_ = s.reapOn(ctx, c.Conn(), nil)
}

// maxBeat is how many orphans a session looks at each time.
const maxBeat = 10_000

// beat shows that the session lives, and removes sessions that do not, and orphans.
func (s *Store) beat(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	id, lives, sessions, listeners := s.session.number(), int64(0), int64(0), int64(0)
	var waiting []store.Ino
	c, err := s.connect(ctx, 0,
		step{statement: touchSession, args: []any{id}, count: &lives}, do(expireSessions), step{statement: countSessions, row: numberInto(&sessions)},
		step{statement: selectWaiting, args: []any{id, int64(maxBeat)}, row: func(v [][]byte) { waiting = append(waiting, store.Ino(number(v[0]))) }},
		s.countListeners(&listeners), do(forgetChanges))
	if err != nil {
		return err
	}
	defer s.abandon(c)
	if lives == 0 { // the machine slept, or the network was away
		return s.register(ctx, c.Conn())
	}
	s.session.began(0, sessions, listeners)
	s.session.mark(waiting)
	if err := s.reapOn(ctx, c.Conn(), append([]store.Ino{}, s.session.unpinned()...)); err != nil {
		return err
	}
	return s.reapOn(ctx, c.Conn(), nil)
}

// countListeners counts the Stores that want to hear of changes.
func (s *Store) countListeners(n *int64) step {
	return step{statement: countListeners, args: []any{int64(lockOfListeners), int64(uint32(s.schema.listenersOf()))}, row: numberInto(n)}
}
