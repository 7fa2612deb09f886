package pgstore

import (
	"cmp"
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/foliofs/folio/internal/store"
)

// Update implements store.Store.
func (s *Store) Update(ctx context.Context, fn func(tx store.Tx) error) error {
	err := s.counted(func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		select {
		case <-s.turn:
		case <-ctx.Done():
			return ctx.Err()
		}
		defer s.giveTurn()
		return s.transact(ctx, 0, lockFirst, func(t *tx) error { return fn(t) })
	})
	s.reapReleased()
	return err
}

// counted calls fn, which makes a write transaction that Unpin may be called in.
func (s *Store) counted(fn func() error) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	if s.readOnly {
		return s.refuseChange()
	}
	_ = s.stayAlive(min(s.timeout, time.Second)) // fn may pin an inode that it makes, and cannot wait for a heartbeat then
	s.released.Begin()
	defer s.released.End()
	return fn()
}

func (s *Store) giveTurn() { s.turn <- struct{}{} }

// transact calls fn with a write transaction that is likely to make so many inodes, and commits it
// if fn returns nil.
func (s *Store) transact(ctx context.Context, inodes int, first approach, fn func(t *tx) error) (err error) {
	t := newTx(ctx, s, inodes, first)
	defer t.release()
	defer func() { s.numbers.leave(err) }()
	if err := fn(t); err != nil {
		return err
	}
	if err := cmp.Or(t.failed, ctx.Err()); err != nil {
		return err
	}
	if err := t.commit(); err != nil {
		return err
	}
	s.session.orphaned(t.orphaned())
	return nil
}

// Sync implements store.Store. The server syncs each commit unless it was told otherwise, by
// synchronous_commit in the address. Then Sync commits a change of nothing durably, and with it all
// those before.
func (s *Store) Sync(ctx context.Context) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	if s.readOnly || s.pool.Config().ConnConfig.RuntimeParams["synchronous_commit"] == "" {
		return ctx.Err()
	}
	return explain(s.repeat(ctx, func() error {
		return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, "SELECT set_config('synchronous_commit', 'on', true), pg_logical_emit_message(true, 'folio', '')")
			return err
		})
	}))
}
