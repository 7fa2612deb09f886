package roottest

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/foliofs/folio/internal/random"
)

// Path returns a random path of at most n elements, each "..", "." or a letter from a to d. It is
// not always a clean one.
func Path(r *rand.Rand, n int) string {
	var b strings.Builder
	if r.IntN(30) == 0 {
		b.WriteByte('/')
	}
	for i := range 1 + r.IntN(n) {
		if i > 0 {
			b.WriteString(strings.Repeat("/", 1+r.IntN(20)/19))
		}
		switch r.IntN(8) {
		case 0:
			b.WriteString("..")
		case 1:
			b.WriteString(".")
		default:
			b.WriteString(random.Letter(r))
		}
	}
	if r.IntN(10) == 0 {
		b.WriteByte('/')
	}
	return b.String()
}

// Hash returns the length and a checksum of p.
func Hash(p []byte) string {
	sum := uint64(len(p))
	for _, c := range p {
		sum = sum*1099511628211 + uint64(c)
	}
	return fmt.Sprintf("%d:%x", len(p), sum)
}

// Difference returns the first lines that differ.
func Difference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("%s, want %s", a[i], b[i])
		}
	}
	return "one is longer"
}
