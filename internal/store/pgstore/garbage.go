package pgstore

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/pgstore/bucket"
)

// Objects leave the bucket in three steps, each of which can be repeated:
//
//   - A row that names an object is removed, or gets bytes: a trigger puts the object on the list
//     (dropped, since).
//   - After a time, under the lock of the volume, objects on the list that no row names are swept:
//     no row may name them from then on. An object must not be swept while the server has a
//     snapshot in which a row still names it. The server tells the oldest one.
//   - Swept objects are removed from the bucket, and marked as gone when that is confirmed. Their
//     rows stay for a week, so that a commit that comes late fails.
//
// Objects whose transaction never committed are on no list. GC finds them in the bucket, by their
// age, and sweeps them too.

const (
	maxCollected       = 1000 // objects at once
	maxCollectInterval = 10 * time.Minute
)

// collectRegularly removes objects from time to time until ctx is done.
func (s *Store) collectRegularly(ctx context.Context) {
	t := time.NewTicker(max(time.Second, min(maxCollectInterval, s.sweepAfter/4)))
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			_, _ = s.collectGarbage(ctx, s.sweepAfter) // what is left comes next time
		}
	}
}

// collectGarbage removes objects from the bucket that nothing has needed for so long, and returns
// how many.
func (s *Store) collectGarbage(ctx context.Context, after time.Duration) (removed int, err error) {
	for {
		listed := int64(0)
		err := s.locked(ctx, step{statement: sweepObjects, args: []any{after.Microseconds(), int64(maxCollected)}, count: &listed}, do(forgetObjects))
		if err != nil {
			return removed, err
		}
		n, err := s.removeSwept(ctx)
		removed += n
		if err != nil || listed < maxCollected {
			return removed, err
		}
	}
}

// locked makes steps in a transaction that locks the volume.
func (s *Store) locked(ctx context.Context, steps ...step) error {
	begin := []step{do(beginWrite), s.lockStep()}
	return s.onConnAgain(ctx, append(append(begin, steps...), do(commit))...)
}

// onConnAgain makes steps, which can be repeated, on a connection.
func (s *Store) onConnAgain(ctx context.Context, steps ...step) error {
	return s.repeat(ctx, func() error {
		return s.onConn(ctx, func(ctx context.Context, c *pgxpool.Conn) error { return s.roundTrip(ctx, c.Conn(), steps...) })
	})
}

// onConn calls fn with a connection.
func (s *Store) onConn(ctx context.Context, fn func(ctx context.Context, c *pgxpool.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, 2*s.timeout)
	defer cancel()
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return explain(err)
	}
	defer s.abandon(c)
	return explain(fn(ctx, c))
}

// removeSwept removes swept objects from the bucket.
func (s *Store) removeSwept(ctx context.Context) (removed int, err error) {
	for {
		var names []bucket.Name
		err := s.onConn(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
			return s.roundTrip(ctx, c.Conn(), step{statement: selectSwept, args: []any{int64(maxCollected)}, row: func(v [][]byte) {
				var n bucket.Name
				copy(n[:], v[0])
				names = append(names, n)
			}})
		})
		if err != nil || len(names) == 0 {
			return removed, err
		}
		gone, err := s.removeObjects(ctx, names)
		if len(gone) > 0 {
			if err := s.onConnAgain(ctx, do(markGone, gone)); err != nil {
				return removed, err
			}
		}
		removed += len(gone)
		if err != nil || len(names) < maxCollected {
			return removed, err
		}
	}
}

// removeObjects removes objects, some at once, until one cannot be removed, and returns those that
// are gone.
func (s *Store) removeObjects(ctx context.Context, names []bucket.Name) (gone [][16]byte, err error) {
	var mu sync.Mutex // guards gone and err
	var wg sync.WaitGroup
	work := make(chan bucket.Name)
	failed := make(chan struct{})
	for range maxUploads {
		wg.Go(func() {
			for n := range work {
				e := s.objects.client.Delete(ctx, n)
				mu.Lock()
				switch {
				case e == nil:
					gone = append(gone, n)
				case err == nil:
					err = e
					close(failed)
				}
				mu.Unlock()
			}
		})
	}
feed:
	for _, n := range names {
		select {
		case work <- n:
		case <-failed:
			break feed
		}
	}
	close(work)
	wg.Wait()
	return gone, err
}

// Objects implements store.ObjectKeeper.
func (s *Store) Objects(ctx context.Context) (info store.ObjectInfo, err error) {
	if err := s.gate.Enter(); err != nil {
		return info, err
	}
	defer s.gate.Leave()
	if s.objects == nil {
		return info, nil
	}
	info.Bucket = s.objects.client.Address()
	err = s.onConn(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		return s.roundTrip(ctx, c.Conn(), step{statement: countObjects, row: func(v [][]byte) {
			for i, n := range []*int64{&info.Objects, &info.Bytes, &info.Waiting, &info.WaitingBytes, &info.Chunks, &info.Used} {
				*n = number(v[i])
			}
		}})
	})
	return info, err
}

// defaultMinAge is how old an object is that no transaction will name any more.
const defaultMinAge = 24 * time.Hour

// GC implements store.ObjectKeeper.
func (s *Store) GC(ctx context.Context, o *store.GCOptions) (*store.GCReport, error) {
	if o == nil {
		o = new(store.GCOptions)
	}
	if err := s.gate.Enter(); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	report := new(store.GCReport)
	switch {
	case s.readOnly:
		return nil, s.refuseChange()
	case s.objects == nil:
		return report, nil
	}
	unnamed := defaultMinAge
	if o.MinAge > 0 {
		unnamed = o.MinAge
	}
	if err := s.claim(ctx, unnamed, report); err != nil {
		return nil, err
	}
	removed, err := s.collectGarbage(ctx, s.sweepAfter)
	report.Removed = int64(removed)
	if err != nil {
		return nil, err
	}
	info, err := s.Objects(ctx)
	report.ObjectInfo = info
	return report, err
}

// claim finds objects in the bucket that are old and that no transaction has named, and sweeps
// them.
func (s *Store) claim(ctx context.Context, unnamed time.Duration, report *store.GCReport) error {
	return s.objects.client.List(ctx, func(list []bucket.Object) error {
		var names [][16]byte
		var sizes []int64
		for _, o := range list {
			report.Listed++
			if o.Age >= unnamed {
				names, sizes = append(names, o.Name), append(sizes, o.Size)
			}
		}
		if len(names) == 0 {
			return nil
		}
		count := int64(0)
		err := s.onConnAgain(ctx, step{statement: claimObjects, args: []any{names, sizes}, count: &count})
		report.Unnamed += count
		return err
	})
}
