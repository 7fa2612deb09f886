package storetest

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"sync"
	"testing"

	"github.com/foliofs/folio/internal/store"
)

var errHalfway = errors.New("given up half-way")

// testBatch lets many goroutines make changes in batches. Some are refused, some are given up
// half-way, and some fail by breaking a rule: each must happen as if it were alone.
func testBatch(t *testing.T, s store.Store, again Opener) {
	b := s.Features().Batcher
	if b == nil {
		t.Skip("not a Batcher")
	}
	const goroutines, each = 24, 20
	var wg sync.WaitGroup
	for who := range goroutines {
		wg.Go(func() {
			for i := range each {
				name := fmt.Sprint(who, "-", i)
				if err := batchOne(b, name, i%5); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	wg.Wait()
	check := func(s store.Store) {
		if l := List(t, Begin(t, s), store.Root, "", 0); len(l) != goroutines*each*2/5 {
			t.Errorf("%d files", len(l))
		}
		WantClean(t, s)
	}
	check(s)
	check(again(t))
}

// batchOne makes a change in a batch, and reports how its result differs from the expected one.
func batchOne(b store.Batcher, name string, kind int) error {
	var want error
	err := b.Batch(func(tx store.Tx) error {
		if kind == 0 { // refused
			want = fs.ErrNotExist
			_, err := tx.Lookup(store.Root, name)
			return err
		}
		if _, err := AddFile(tx, name, []byte("content of "+name)); err != nil {
			return err
		}
		switch kind {
		case 1:
			want = errHalfway
			return errHalfway
		case 2:
			want = fs.ErrInvalid
			_ = tx.Link(store.Root, store.Entry{Name: "a/b", Ino: 1, Type: store.Dir}) // the transaction knows
		}
		return nil
	})
	if !errors.Is(err, want) {
		return fmt.Errorf("%v, want %w", err, want)
	}
	return nil
}

// testBatchTogether makes changes while a transaction keeps them waiting. One of them panics; the
// rest must happen all the same.
func testBatchTogether(t *testing.T, s store.Store, _ Opener) {
	b := s.Features().Batcher
	if b == nil {
		t.Skip("not a Batcher")
	}
	const goroutines = 10
	var wg, ready sync.WaitGroup
	panicked := make([]bool, goroutines)
	Update(t, s, func(store.Tx) error {
		for who := range goroutines {
			ready.Add(1)
			wg.Go(func() {
				defer func() { panicked[who] = recover() != nil }()
				ready.Done()
				err := b.Batch(func(tx store.Tx) error {
					if who == goroutines/2 {
						panic("a change that panics")
					}
					_, err := AddFile(tx, fmt.Sprint(who), []byte("content"))
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		ready.Wait()
		runtime.Gosched() // most of them wait by now; it does not matter how many
		return nil
	})
	wg.Wait()
	for who, p := range panicked {
		if p != (who == goroutines/2) {
			t.Errorf("change %d: panicked %v", who, p)
		}
	}
	if l := List(t, Begin(t, s), store.Root, "", 0); len(l) != goroutines-1 {
		t.Errorf("%d files", len(l))
	}
	WantClean(t, s)
}
