package machine

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

var (
	runs   = flag.Int("machine.runs", 500, "random runs to compare")
	length = flag.Int("machine.ops", 200, "operations of each run")
	first  = flag.Uint64("machine.seed", 1, "seed of the first run; the following have the following")
)

// TestMachine compares as many runs as the flag says.
func TestMachine(t *testing.T) {
	t.Parallel()
	needC(t)
	var sum totals
	var mu sync.Mutex
	failed := each(t, *runs, func(n uint64) error {
		m := newMachine(n, *length)
		err := m.play()
		mu.Lock()
		defer mu.Unlock()
		sum.add(m.totals)
		return err
	})
	t.Logf("runs %d to %d of %d operations: %v", *first, *first+uint64(*runs)-1, *length, &sum)
	for _, n := range failed {
		t.Errorf("-machine.seed %d -machine.runs 1: %s", n, shrink(func() *machine { return newMachine(n, *length) }))
	}
}

// each calls fn for a number of seeds, on all processors, until some have failed, and returns
// these.
func each(t *testing.T, n int, fn func(seed uint64) error) (failed []uint64) {
	var next, bad atomic.Int64
	var mu sync.Mutex
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for bad.Load() < 3 {
				i := next.Add(1) - 1
				if i >= int64(n) {
					return
				}
				if i > 0 && i%1000 == 0 {
					t.Logf("%d begun", i)
				}
				seed := *first + uint64(i)
				if err := fn(seed); err != nil {
					bad.Add(1)
					mu.Lock()
					t.Logf("seed %d: %.500v", seed, err)
					failed = append(failed, seed)
					mu.Unlock()
				}
			}
		})
	}
	group.Wait()
	return failed
}

// newMachine returns the run of a seed.
func newMachine(seed uint64, ops int) *machine {
	r := rand.New(rand.NewPCG(seed, 0))
	return &machine{setup: randomSetup(r), ops: randomOps(r, ops, &weights), random: rand.New(rand.NewPCG(seed, 2))}
}

// shrink returns the shortest list of operations of a run that fails, with descriptions.
func shrink(make func() *machine) string {
	play := func(ops []op) (m *machine, err error) {
		m = make()
		m.ops, m.trace = ops, []string{}
		return m, m.play()
	}
	list := make().ops
	if _, err := play(list); err == nil {
		return "does not fail again"
	}
	for size := len(list) / 2; size > 0; size /= 2 {
		for from := 0; from+size <= len(list); {
			shorter := slices.Concat(list[:from], list[from+size:])
			if _, err := play(shorter); err != nil {
				list = shorter
			} else {
				from += size
			}
		}
	}
	m, err := play(list)
	return fmt.Sprintf("%+v: %d operations\n%s\n%v", m.setup, len(list), strings.Join(m.trace, "\n"), err)
}
