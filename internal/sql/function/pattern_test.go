package function

import (
	"math/rand/v2"
	"testing"

	"github.com/foliofs/folio/internal/record"
)

// TestCompile compares compiled patterns with those that are read for each text.
func TestCompile(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	random := func(letters string) []byte {
		b := make([]byte, r.IntN(7))
		for i := range b {
			b[i] = letters[r.IntN(len(letters))]
		}
		return b
	}
	for _, p := range []Pattern{Like(), Glob()} {
		for range 200_000 {
			pat, text := random("aAbB1%%*_?[]^\x00\xc3\xa9"), random("aAbB11\x00\xc3\xa9\xff%*")
			want, err := p.Match(record.OfText(pat), record.OfText(text))
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Compile(pat)(text); got != (want.Int() == 1) {
				t.Fatalf("pattern %q, text %q: %v, want %v", pat, text, got, want)
			}
		}
	}
}
