package overlay

import (
	"context"

	"github.com/foliofs/folio/internal/store"
)

// An observed is an overlay whose upper store is a store.Observer. What other programs change there
// may be in any directory of the overlay, and so each change means that anything may have changed:
// nothing but the overlay should write to the upper store. The base is taken to stay as it is.
type observed struct {
	*Store
	upper store.Observer
}

// Observed returns s as a store.Observer, if its upper store is one and the base does not change.
func (s *Store) Observed() store.Store {
	o := s.upper.Features().Observer
	if o == nil || s.options.BaseChanges {
		return s
	}
	return &observed{s, o}
}

// Features implements store.Store.
func (s *observed) Features() store.Features {
	f := s.Store.Features()
	f.Observer = s
	return f
}

// Observe implements store.Observer.
func (s *observed) Observe() error { return s.upper.Observe() }

// Pending implements store.Observer.
func (s *observed) Pending() bool { return s.upper.Pending() }

// Observed implements store.Observer.
func (s *observed) Observed() (store.Rx, store.Changes, error) {
	if err := s.gate.Enter(); err != nil {
		return nil, store.Changes{}, err
	}
	seq := s.seq.Load() // before the snapshot: see N3
	up, c, err := s.upper.Observed()
	if err != nil {
		s.gate.Leave()
		return nil, store.Changes{}, err
	}
	return &rx{s: &s.layers, up: up, seq: seq}, store.Changes{All: !c.None()}, nil
}

// Reap implements store.Observer.
func (s *observed) Reap() error { return s.upper.Reap() }

// UpdateKnown implements store.Observer.
func (s *observed) UpdateKnown(ctx context.Context, fn func(tx store.Tx) error) error {
	return s.Exclusive(ctx, func() error {
		return s.transact(fn, func(run func(up store.Tx) error) error { return s.upper.UpdateKnown(ctx, run) })
	})
}

// BatchKnown implements store.Observer.
func (s *observed) BatchKnown(ctx context.Context, fn func(tx store.Tx) error) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	return s.transact(fn, func(run func(up store.Tx) error) error { return s.upper.BatchKnown(ctx, run) })
}

// ContentPages implements store.Observer. It returns no pages: see Observed.
func (s *observed) ContentPages(store.Rx, store.Ino, int64, int64, func(first uint32, n int)) error {
	return nil
}
