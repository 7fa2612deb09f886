package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/foliofs/folio/internal/store"
)

// Pin implements store.Store. The session lives when it returns, for a third of its lease at least,
// unless the server can only be read, as after a failover.
func (s *Store) Pin(ino store.Ino) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	if err := s.stayAlive(s.timeout); err != nil && codeOf(err) != codeReadOnly {
		return err
	}
	s.pins.mu.Lock()
	defer s.pins.mu.Unlock()
	s.pins.inodes[ino]++
	return nil
}

// Unpin implements store.Store.
func (s *Store) Unpin(ino store.Ino) {
	last := s.pins.remove(ino)
	if !last || s.readOnly || s.gate.Enter() != nil {
		return
	}
	defer s.gate.Leave()
	if s.session.mayWait(ino) {
		s.released.Add(ino)
		s.released.Reap(s.reapReleased)
	}
}

// reapReleased removes the orphans among the inodes that were unpinned.
func (s *Store) reapReleased() {
	list := s.released.Take()
	if len(list) > 0 {
		_ = s.reap(bg, list) // the next heartbeat tries again
	}
}

// reap lets orphans that this Store has not pinned go, and removes those that no session waits for.
func (s *Store) reap(ctx context.Context, list []store.Ino) error {
	if s.readOnly || len(list) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*s.timeout)
	defer cancel()
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer s.abandon(c)
	return s.reapOn(ctx, c.Conn(), list)
}

// maxReaped is how many orphans a transaction removes.
const maxReaped = 1000

// reapAll removes all orphans that no session waits for.
func (s *Store) reapAll(ctx context.Context, c *pgx.Conn) error {
	for {
		removed, err := s.removeDead(ctx, c, step{statement: selectDead, args: []any{int64(maxReaped)}})
		if err != nil || removed < maxReaped {
			return err
		}
	}
}

// reapOn is reap on a connection.
func (s *Store) reapOn(ctx context.Context, c *pgx.Conn, list []store.Ino) error {
	inos := make([]int64, 0, len(list))
	for _, ino := range list {
		if !s.pins.pinned(ino) {
			inos = append(inos, int64(ino))
		}
	}
	if len(inos) == 0 {
		return nil
	}
	count := int64(0)
	stop := step{statement: stopWaiting, args: []any{s.session.number(), inos}, count: &count}
	if !s.session.anyMarked(list) {
		if err := s.roundTrip(ctx, c, stop); err != nil || count == 0 {
			return err
		}
	}
	_, err := s.removeDead(ctx, c, step{statement: selectDeadOf, args: []any{inos}}, stop)
	if err == nil {
		s.session.unmark(list)
	}
	return err
}

// removeDead removes the orphans that a statement finds, after it has run others, and returns how
// many.
func (s *Store) removeDead(ctx context.Context, c *pgx.Conn, find step, first ...step) (int, error) {
	var dead []int64
	var steps []step
	find.row = func(v [][]byte) {
		ino := number(v[0])
		dead = append(dead, ino)
		if number(v[1]) > 0 {
			steps = append(steps, do(deleteChunks, store.DataID(store.Ino(ino), 0), store.DataID(store.Ino(ino), store.MaxSize-1)))
		}
	}
	begin := append([]step{do(beginWrite), s.lockStep()}, first...)
	if err := s.roundTrip(ctx, c, append(begin, find)...); err != nil {
		return 0, err
	}
	if len(dead) > 0 {
		steps = append(steps, do(removeNodes, dead), do(removeXattrs, dead), do(removeOrphans, dead), do(insertChange))
	}
	return len(dead), s.roundTrip(ctx, c, append(steps, do(commit))...)
}
