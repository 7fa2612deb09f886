//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/foliofs/folio/internal/store"
)

// TestNames notes answers and drops them, at random, and compares what is known of each name with a
// map.
func TestNames(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var s names
	s.init(func(store.Ino) bool { return true })
	model := make(map[store.EntryKey]store.Ino)
	for range 50_000 {
		key := store.EntryKey{Dir: store.Ino(1 + rng.IntN(3)), Name: fmt.Sprintf("%0*d", 1+rng.IntN(20), rng.IntN(200))}
		if key.Dir == 1 { // it often has no names
			key.Name = key.Name[:1]
		}
		switch n := rng.IntN(1000); {
		case n == 0:
			s.forget(key.Dir)
			for k := range model {
				if k.Dir == key.Dir {
					delete(model, k)
				}
			}
		case n < 20 || n < 600 && key.Dir == 1:
			if ino, ok := model[key]; ok {
				s.drop([]kernelEntry{{key, ino}})
				delete(model, key)
			}
		case n < 800:
			ino := store.Ino(rng.IntN(1 << rng.IntN(35)))
			s.add(key.Dir, key.Name, ino)
			model[key] = ino
		}
		want, there := model[key]
		ino, ok := s.last(key.Dir, key.Name)
		if there && (ino != want || !ok) {
			t.Fatalf("%v leads to %d, %v; want %d", key, ino, ok, want)
		}
	}
}
