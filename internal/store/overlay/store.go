package overlay

import (
	"context"
	"io/fs"
	"math"

	"github.com/foliofs/folio/internal/store"
)

// A Store is an overlay. It implements store.Store.
type Store struct {
	layers
	writer chan struct{} // holds a value while Update or Exclusive runs
}

var (
	_ store.Store       = (*Store)(nil)
	_ store.Batcher     = (*Store)(nil)
	_ store.Observer    = (*observed)(nil)
	_ store.HolePuncher = (*tx)(nil)
)

// New returns an overlay over base that keeps changes in upper. Close closes upper unless
// o.KeepUpper is set. If upper has files already, they are changes that were made before.
func New(base fs.FS, upper store.Store, o *Options) *Store {
	if o == nil {
		o = new(Options)
	}
	s := &Store{writer: make(chan struct{}, 1)}
	s.upper, s.options = upper, *o
	s.base.fsys, s.base.describe = base, o.Describe
	s.numbers.init()
	s.seq.Store(1)
	return s
}

// Begin implements store.Store.
func (s *Store) Begin(ctx context.Context) (store.Rx, error) {
	r, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (s *Store) begin(ctx context.Context) (*rx, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.gate.Enter(); err != nil {
		return nil, err
	}
	seq := s.seq.Load() // before the snapshot: see N3
	up, err := s.upper.Begin(ctx)
	if err != nil {
		s.gate.Leave()
		return nil, err
	}
	return &rx{s: &s.layers, up: up, seq: seq}, nil
}

// Version implements store.Store.
func (s *Store) Version() (uint64, bool) {
	if s.options.BaseChanges {
		return 0, false
	}
	return s.upper.Version()
}

// Info implements store.Store: it describes the upper store.
func (s *Store) Info(ctx context.Context) (store.Info, error) {
	if err := s.gate.Enter(); err != nil {
		return store.Info{}, err
	}
	defer s.gate.Leave()
	return s.upper.Info(ctx)
}

// Check implements store.Store: it looks at the upper store.
func (s *Store) Check(ctx context.Context, o *store.CheckOptions) (*store.Report, error) {
	if err := s.gate.Enter(); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	return s.upper.Check(ctx, o)
}

// Close implements store.Store.
func (s *Store) Close() error {
	if err := s.gate.Close(); err != nil {
		return err
	}
	s.base.handles.close()
	if s.options.KeepUpper {
		return nil
	}
	return s.upper.Close()
}

// Sync implements store.Store.
func (s *Store) Sync(ctx context.Context) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	return s.upper.Sync(ctx)
}

// Features implements store.Store.
func (s *Store) Features() store.Features {
	return store.Features{Batcher: s, MaxSize: s.upper.Features().MaxSize}
}

// Pin implements store.Store. A file of the base is pinned here, and in the upper store when it is
// copied up.
func (s *Store) Pin(ino store.Ino) error {
	if at, _, ok := s.numbers.get(ino); ok {
		return s.numbers.pin(at, s.upper.Pin)
	}
	return s.upper.Pin(ino)
}

// Unpin implements store.Store.
func (s *Store) Unpin(ino store.Ino) {
	at, _, ok := s.numbers.get(ino)
	if ok {
		ino = s.numbers.unpin(at)
	}
	if ino != 0 {
		s.upper.Unpin(ino)
	}
}

// Update implements store.Store.
func (s *Store) Update(ctx context.Context, fn func(tx store.Tx) error) error {
	return s.Exclusive(ctx, func() error {
		return s.transact(fn, func(run func(up store.Tx) error) error { return s.upper.Update(ctx, run) })
	})
}

// Exclusive calls fn while no other call of Update or Exclusive runs. fn may change the upper
// store.
func (s *Store) Exclusive(ctx context.Context, fn func() error) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	select {
	case s.writer <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.writer }()
	return fn()
}

// Batch implements store.Batcher, as far as the upper store is one.
func (s *Store) Batch(fn func(tx store.Tx) error) error {
	b := s.upper.Features().Batcher
	if b == nil {
		return s.Update(context.Background(), fn)
	}
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	return s.transact(fn, b.Batch)
}

// transact calls fn with a transaction that begin begins. If begin calls its function again, the
// transaction was rolled back.
func (s *Store) transact(fn func(tx store.Tx) error, begin func(run func(up store.Tx) error) error) error {
	var t *tx
	committed := false
	undo := func() {
		if t != nil && !committed {
			for _, ino := range s.numbers.rollBack(t.bound) {
				s.upper.Unpin(ino)
			}
		}
	}
	defer undo() // fn may panic
	err := begin(func(up store.Tx) error {
		undo()
		t = &tx{rx: rx{s: &s.layers, up: up, seq: math.MaxUint64}, up: up}
		return fn(t)
	})
	if err == nil {
		committed = true
		s.numbers.commit(t.bound, s.seq.Add(1))
	}
	return err
}
