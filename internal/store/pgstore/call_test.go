//go:build unix

package pgstore_test

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"
)

var (
	calls = flag.Int("same.calls", 90_000, "calls on a volume on a server that are compared with the same on one of the engine")
	seed  = flag.Uint64("same.seed", 0, "of them; 0 means a new one")
)

func random(t *testing.T) *rand.Rand {
	t.Helper()
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("-same.seed %d", s)
	return rand.New(rand.NewPCG(s, 0))
}
