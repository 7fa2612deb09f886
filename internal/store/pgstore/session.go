package pgstore

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

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
	s       *Store
	cancel  context.CancelFunc // nil if there is no session
	running sync.WaitGroup     // two goroutines
	kick    chan struct{}      // that there are orphans to remove
	look    chan struct{}      // that it is time to look for orphans

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

// begin starts the goroutines that show that the session lives, and that maintain orphans.
func (n *session) begin(s *Store) {
	ctx, cancel := context.WithCancel(bg)
	n.s, n.cancel, n.kick, n.look = s, cancel, make(chan struct{}, 1), make(chan struct{}, 1)
	n.running.Go(func() { n.live(ctx) })
	n.running.Go(func() { n.maintain(ctx) })
}

// stop ends the goroutines.
func (n *session) stop() {
	if n.cancel != nil {
		n.cancel()
		n.running.Wait()
	}
}

// reapDelay is how long the goroutine waits for further orphans.
const reapDelay = 50 * time.Millisecond

// maintain removes orphans and dead sessions until ctx is done. What fails is done next time.
func (n *session) maintain(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.look:
			_ = n.s.maintain(ctx)
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
	begun := time.Now()
	var id, sessions, listeners int64
	err := s.roundTrip(ctx, c, do(beginWrite), s.lockStep(), do(expireSessions),
		step{statement: addSession, args: []any{s.lease.Microseconds()}, row: numberInto(&id)},
		step{statement: countSessions, row: numberInto(&sessions)}, s.countListeners(&listeners), do(commit))
	if err != nil {
		_ = s.roundTrip(ctx, c, do(rollback))
		return err
	}
	s.session.began(id, sessions, listeners)
	s.session.wasSeen(begun)
	_ = s.reapOn(ctx, c, nil) // if that fails, another session does it
	return nil
}

// unregister removes the session, and the orphans for which no session waits then.
func (s *Store) unregister() {
	if s.session.cancel == nil {
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

// countListeners counts the Stores that want to hear of changes.
func (s *Store) countListeners(n *int64) step {
	return step{statement: countListeners, args: []any{int64(lockOfListeners), int64(uint32(s.schema.listenersOf()))}, row: numberInto(n)}
}
