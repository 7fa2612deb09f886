package storetest

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"sync"
	"testing"

	"github.com/foliofs/folio/store"
)

var errHalfway = errors.New("given up half-way")

// testGather lets many goroutines gather changes of which some are refused, some given up half-way, and some fail by breaking a rule: each must
// happen as if it were alone.
func testGather(t *testing.T, s store.Store, again Opener) {
	g, ok := s.(store.Gatherer)
	if !ok {
		t.Skip("not a Gatherer")
	}
	const goroutines, each = 24, 20
	var wg sync.WaitGroup
	for who := range goroutines {
		wg.Go(func() {
			for i := range each {
				name := fmt.Sprint(who, "-", i)
				if err := gatherOne(g, name, i%5); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	wg.Wait()
	check := func(s store.Store) {
		if l := list(t, begin(t, s), store.Root, "", 0); len(l) != goroutines*each*2/5 {
			t.Errorf("%d files", len(l))
		}
		checkClean(t, s)
	}
	check(s)
	check(again(t))
}

// gatherOne gathers a change, and reports what is not as it should be.
func gatherOne(g store.Gatherer, name string, kind int) error {
	var want error
	err := g.Gather(func(tx store.Tx) error {
		if kind == 0 { // refused
			want = fs.ErrNotExist
			_, err := tx.Lookup(store.Root, name)
			return err
		}
		if _, err := addFile(tx, name, []byte("content of "+name)); err != nil {
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

// testGatherTogether gathers changes while a transaction keeps them waiting, one of which panics: it must not take the others with it.
func testGatherTogether(t *testing.T, s store.Store, _ Opener) {
	g, ok := s.(store.Gatherer)
	if !ok {
		t.Skip("not a Gatherer")
	}
	const goroutines = 10
	var wg, ready sync.WaitGroup
	panicked := make([]bool, goroutines)
	update(t, s, func(store.Tx) error {
		for who := range goroutines {
			ready.Add(1)
			wg.Go(func() {
				defer func() { panicked[who] = recover() != nil }()
				ready.Done()
				err := g.Gather(func(tx store.Tx) error {
					if who == goroutines/2 {
						panic("a change that panics")
					}
					_, err := addFile(tx, fmt.Sprint(who), []byte("content"))
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
	if l := list(t, begin(t, s), store.Root, "", 0); len(l) != goroutines-1 {
		t.Errorf("%d files", len(l))
	}
	checkClean(t, s)
}
