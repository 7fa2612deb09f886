package pgstore

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/foliofs/folio/internal/store"
)

// A session shows that it lives by a heartbeat, a statement alone on its trip: nothing that fails
// beside it can take it back. The heartbeat has a goroutine, and, if need be, a connection of its
// own, so that it waits for no other call. There are three heartbeats in a lease. One that fails is
// repeated after a second.
//
// A caller that pins an inode makes a heartbeat first if the last one is too long ago: the server
// may have forgotten the session, because the machine slept or the network was away.

// heartbeatAgain is how long a session waits after a heartbeat that failed.
const heartbeatAgain = time.Second

// interval is the time between two heartbeats.
func (s *Store) interval() time.Duration { return max(time.Millisecond, s.lease/3) }

// live makes heartbeats until ctx is done.
func (n *session) live(ctx context.Context) {
	timer := time.NewTimer(n.s.interval())
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			timer.Reset(n.next(n.s.heartbeat(ctx)))
		}
	}
}

// next returns when a heartbeat follows one that has returned err. If err is nil, it lets the other
// goroutine look for orphans.
func (n *session) next(err error) time.Duration {
	if err != nil {
		return min(heartbeatAgain, n.s.interval())
	}
	select {
	case n.look <- struct{}{}:
	default:
	}
	return n.s.interval()
}

// heartbeat shows that the session lives.
func (s *Store) heartbeat(ctx context.Context) error {
	s.session.touching.Lock()
	defer s.session.touching.Unlock()
	return s.touch(ctx, min(s.timeout, max(time.Second, s.interval())))
}

// stayAlive makes a heartbeat, within a time, if the last one is long ago. Callers that wait for
// the same heartbeat share its error.
func (s *Store) stayAlive(limit time.Duration) error {
	n := &s.session
	if s.readOnly || n.isFresh() {
		return nil
	}
	asked := time.Now()
	n.touching.Lock()
	defer n.touching.Unlock()
	switch {
	case n.isFresh():
		return nil
	case n.failed != nil && n.ended.After(asked):
		return n.failed
	}
	return s.touch(bg, limit)
}

// touch makes a heartbeat. If the server has forgotten the session, another one begins. The caller
// holds session.touching.
func (s *Store) touch(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var readOnly error // what the last server said, if it changes nothing
	err := s.repeat(ctx, func() error {
		err := s.onFree(ctx, s.touchOn)
		switch {
		case codeOf(err) != codeReadOnly:
			readOnly = nil
		case readOnly != nil: // a second one, which is not the primary either
			return nil
		default:
			readOnly = err
		}
		return err
	})
	err = cmp.Or(err, readOnly)
	s.session.failed, s.session.ended = explain(err), time.Now()
	return s.session.failed
}

// touchOn is touch on a connection.
func (s *Store) touchOn(ctx context.Context, c *pgx.Conn) error {
	begun, lives := time.Now(), int64(0)
	err := s.roundTrip(ctx, c, step{statement: touchSession, args: []any{s.session.number()}, count: &lives})
	switch {
	case err != nil:
		return err
	case lives == 0:
		return s.register(ctx, c)
	}
	s.session.wasSeen(begun)
	return nil
}

// onFree calls fn with a connection, which is one for this call alone if no other is free soon.
func (s *Store) onFree(ctx context.Context, fn func(ctx context.Context, c *pgx.Conn) error) error {
	soon, cancel := context.WithTimeout(ctx, min(time.Second, s.lease/12))
	defer cancel()
	shared, err := s.pool.Acquire(soon)
	if err == nil {
		defer s.abandon(shared)
		return fn(ctx, shared.Conn())
	}
	if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
		return err
	}
	c, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig.Copy())
	if err != nil {
		return err
	}
	defer c.Close(bg)
	return fn(ctx, c)
}

// wasSeen notes that the server has seen the session after a time.
func (n *session) wasSeen(begun time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.seen = begun
}

// isFresh reports whether the server has seen the session within two thirds of the lease. The clock
// that only runs forward may stand still while the machine sleeps, so the other one counts too.
func (n *session) isFresh() bool {
	n.mu.Lock()
	seen := n.seen
	n.mu.Unlock()
	now := time.Now()
	return max(now.Sub(seen), now.Round(0).Sub(seen)) < 2*n.s.lease/3
}

// maxLook is how many orphans a session looks at each time.
const maxLook = 10_000

// maintain removes sessions that do not live, and orphans, unless it may be dead itself.
func (s *Store) maintain(ctx context.Context) error {
	if !s.session.isFresh() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	var sessions, listeners int64
	var waiting []store.Ino
	c, err := s.connect(ctx, 0, do(expireSessions), step{statement: countSessions, row: numberInto(&sessions)},
		step{statement: selectWaiting, args: []any{s.session.number(), int64(maxLook)}, row: func(v [][]byte) { waiting = append(waiting, store.Ino(number(v[0]))) }},
		s.countListeners(&listeners), do(forgetChanges))
	if err != nil {
		return err
	}
	defer s.abandon(c)
	s.session.began(0, sessions, listeners)
	s.session.mark(waiting)
	if err := s.reapOn(ctx, c.Conn(), s.session.unpinned()); err != nil {
		return err
	}
	return s.reapAll(ctx, c.Conn())
}

// begin starts the goroutines that show that the session lives, and that maintain orphans.
func (n *session) begin(s *Store) {
	n.s, n.kick, n.look = s, make(chan struct{}, 1), make(chan struct{}, 1)
	n.start(n.live, n.maintain)
}

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
	_ = s.reapAll(ctx, c) // if that fails, another session does it
	return nil
}

// unregister removes the session, and the orphans for which no session waits then.
func (s *Store) unregister() {
	if s.session.cancel == nil {
		return
	}
	ctx, cancel := context.WithTimeout(bg, s.timeout)
	defer cancel()
	_ = s.repeat(ctx, func() error { // if that fails, it is dead when its lease has ended
		c, err := s.pool.Acquire(ctx)
		if err != nil {
			return err
		}
		defer s.abandon(c)
		orphans, err := s.closeAtOnce(ctx, c)
		if orphans {
			_ = s.reapAll(ctx, c.Conn())
		}
		return err
	})
}

// countListeners counts the Stores that want to hear of changes.
func (s *Store) countListeners(n *int64) step {
	return step{statement: countListeners, args: []any{int64(lockOfListeners), int64(uint32(s.schema.listenersOf()))}, row: numberInto(n)}
}
