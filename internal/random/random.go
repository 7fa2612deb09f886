// Package random makes the random numbers of tests. The log of a test has the seed, and -seed
// repeats the test with it.
package random

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"
)

var seed = flag.Uint64("seed", 0, "of random tests; 0 means a new one")

// New returns a source whose seed is logged.
func New(t testing.TB) *rand.Rand {
	t.Helper()
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed %d", s)
	return rand.New(rand.NewPCG(s, 0))
}

// From returns another source, for example for another goroutine. The first one seeds it.
func From(r *rand.Rand) *rand.Rand { return rand.New(rand.NewPCG(r.Uint64(), 0)) }

// Letter returns one of four letters.
func Letter(r *rand.Rand) string { return string(rune('a' + r.IntN(4))) }

// Bytes returns n random bytes.
func Bytes(r *rand.Rand, n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(r.Uint32())
	}
	return p
}
