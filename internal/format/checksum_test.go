package format

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestChecksumLanes compares sums of all lengths around the lanes with the definition.
func TestChecksumLanes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 3*4*lane+64)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	for n := 0; n <= len(b); n += 8 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			want := Checksum{r.Uint32(), r.Uint32()}
			got := want.Add(b[:n], false)
			for i := 0; i < n; i += 8 {
				want[0] += binary.LittleEndian.Uint32(b[i:]) + want[1]
				want[1] += binary.LittleEndian.Uint32(b[i+4:]) + want[0]
			}
			if got != want {
				t.Errorf("got %x, want %x", got, want)
			}
		})
	}
}
