package sqlitefile

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// held returns how many bytes the branches below a slot take by branchSize.
func (b *branch) held(rx *Rx) int64 {
	if b == nil {
		return 0
	}
	sum := branchSize(rx, &b.node)
	for i := range b.kids {
		sum += b.kids[i].Load().held(rx)
	}
	return sum
}

// TestSkeletonOrders lets two searches that met the same page take its room and keep it, in each
// order: the room is counted once, and both go on with the same branch.
func TestSkeletonOrders(t *testing.T) {
	t.Parallel()
	const size = 1000
	for _, order := range [][]int{{0, 0, 1, 1}, {0, 1, 0, 1}, {0, 1, 1, 0}} {
		s := new(skeleton)
		var slot atomic.Pointer[branch]
		var got [2]*branch
		took := [2]bool{}
		for _, i := range order {
			if !took[i] {
				took[i] = s.take(size)
			} else {
				got[i] = s.keep(&slot, new(branch), size)
			}
		}
		if n := s.bytes.Load(); n != size || got[0] == nil || got[0] != got[1] {
			t.Errorf("order %v: %d bytes for one branch of %d, branches %p and %p", order, n, size, got[0], got[1])
		}
	}
}

// TestSkeletonFull checks that a skeleton without room counts nothing more.
func TestSkeletonFull(t *testing.T) {
	t.Parallel()
	s := new(skeleton)
	s.bytes.Store(maxSkeleton - 10)
	if s.take(11) || !s.take(10) || s.take(1) || s.bytes.Load() != maxSkeleton {
		t.Errorf("%d bytes of %d", s.bytes.Load(), maxSkeleton)
	}
}

// TestSkeletonCount searches an index by many goroutines at once: what the skeleton has counted is
// what it holds.
func TestSkeletonCount(t *testing.T) {
	t.Parallel()
	const rows = 20_000
	path := build(t, &BuildOptions{PageSize: 512}, []string{"CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT UNIQUE)"}, func(b *Builder) error {
		w, err := b.Table("t")
		for i := range rows {
			if err == nil {
				err = w.Append(int64(i), nil, fmt.Sprintf("%08d", i))
			}
		}
		return err
	})
	for _, plain := range []bool{false, true} {
		db := open(t, path, &Options{Plain: plain})
		err := db.View(t.Context(), func(rx *Rx) error { return searchTogether(t, rx, rows) })
		if err != nil {
			t.Error(err)
		}
	}
}

// searchTogether looks for keys by eight goroutines, each in a view of its own, and compares the
// skeleton with what it has counted.
func searchTogether(t *testing.T, rx *Rx, rows int) error {
	var wg sync.WaitGroup
	errs := make([]error, 8)
	start := make(chan struct{})
	for g := range errs {
		wg.Go(func() {
			<-start
			errs[g] = rx.db.View(t.Context(), func(rx *Rx) error {
				ix, err := rx.Index("sqlite_autoindex_t_1")
				for i := 0; i < rows && err == nil; i += 7 {
					_, _, err = ix.Find(fmt.Sprintf("%08d", i))
				}
				return err
			})
		})
	}
	close(start)
	wg.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return errs[i]
	}
	ix, err := rx.Index("sqlite_autoindex_t_1")
	if err != nil {
		return err
	}
	s := ix.def.skeleton.Load()
	if n, held := s.bytes.Load(), s.top.Load().held(rx); n != held || held == 0 {
		t.Errorf("%d bytes are counted, %d are held", n, held)
	}
	return nil
}
