//go:build unix

package roottest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/foliofs/folio/internal/random"
)

// strange are elements of names that are easily got wrong.
var strange = []string{
	strings.Repeat("l", 255), tooLong, "\xff\xfe", "n\x00l", "e\u0301", " ", "-rf", "two\nlines", "...", `b\c`, "*",
}

// tooLong is longer than any file system lets a name be.
var tooLong = strings.Repeat("m", 801)

// twoNames returns names for a call that takes two. Both are possible names: if neither were, the
// two sides might refuse different ones.
func twoNames(r *rand.Rand) (string, string) {
	return possible(name(r)), possible(name(r))
}

// possible makes of a name that cannot be another one.
func possible(name string) string {
	if name == "" {
		return "m"
	}
	return strings.NewReplacer(tooLong, "m", "\x00", "").Replace(name)
}

// short abbreviates names for messages.
func short(text string) string {
	for _, long := range []string{strange[0], tooLong} {
		text = strings.ReplaceAll(text, long, fmt.Sprint("(", len(long), " times ", long[:1], ")"))
	}
	return text
}

// name returns a path, mostly a clean and short one.
func name(r *rand.Rand) string {
	switch r.IntN(40) {
	case 0, 1, 2:
		return Path(r, 5)
	case 3:
		return strings.Repeat(random.Letter(r)+"/", r.IntN(40)) + random.Letter(r)
	case 4:
		return strange[r.IntN(len(strange))]
	case 6:
		return ""
	case 5:
		return random.Letter(r) + "/" + strange[r.IntN(len(strange))]
	}
	parts := make([]string, 1+r.IntN(3))
	for i := range parts {
		parts[i] = random.Letter(r)
	}
	return strings.Join(parts, "/")
}

// content returns bytes to write: mostly a few, sometimes none, or more than a chunk of a volume.
func content(r *rand.Rand) []byte {
	n := r.IntN(100)
	switch r.IntN(12) {
	case 0:
		n = r.IntN(200_000)
	case 1:
		n = 65536*r.IntN(3) + r.IntN(3)
	case 2:
		n = 0
	}
	return random.Bytes(r, n)
}

// beyond is an offset that no file reaches.
const beyond = 1 << 60

func offset(r *rand.Rand) int64 {
	switch r.IntN(8) {
	case 0:
		return int64(r.IntN(300_000))
	case 1:
		return max(-1, int64(65536*r.IntN(4)+r.IntN(3)-1))
	case 2:
		if r.IntN(8) == 0 {
			return math.MaxInt64 - int64(r.IntN(3))
		}
	}
	return int64(r.IntN(200))
}
