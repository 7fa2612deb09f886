package roottest

import (
	"math/rand/v2"
	"strings"
)

func letter(r *rand.Rand) string { return string(rune('a' + r.IntN(4))) }

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
			b.WriteString(letter(r))
		}
	}
	if r.IntN(10) == 0 {
		b.WriteByte('/')
	}
	return b.String()
}
