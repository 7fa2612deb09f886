package format

import (
	"bytes"
	"math"
	"testing"
)

// TestVarint encodes the least and the greatest number of each length.
func TestVarint(t *testing.T) {
	tests := []struct {
		v uint64
		b []byte
	}{
		{0, []byte{0x00}},
		{1<<7 - 1, []byte{0x7f}},
		{1 << 7, []byte{0x81, 0x00}},
		{1<<14 - 1, []byte{0xff, 0x7f}},
		{1 << 14, []byte{0x81, 0x80, 0x00}},
		{1<<21 - 1, []byte{0xff, 0xff, 0x7f}},
		{1 << 21, []byte{0x81, 0x80, 0x80, 0x00}},
		{1<<28 - 1, []byte{0xff, 0xff, 0xff, 0x7f}},
		{1 << 28, []byte{0x81, 0x80, 0x80, 0x80, 0x00}},
		{1<<35 - 1, []byte{0xff, 0xff, 0xff, 0xff, 0x7f}},
		{1 << 35, []byte{0x81, 0x80, 0x80, 0x80, 0x80, 0x00}},
		{1<<42 - 1, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}},
		{1 << 42, []byte{0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}},
		{1<<49 - 1, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}},
		{1 << 49, []byte{0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}},
		{1<<56 - 1, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}},
		{1 << 56, []byte{0x80, 0xc0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}},
		{math.MaxUint64, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
	}
	for _, tt := range tests {
		if b := AppendVarint([]byte("x"), tt.v); !bytes.Equal(b[1:], tt.b) || VarintLen(tt.v) != len(tt.b) {
			t.Errorf("%d: encoded as % x, length %d; want % x", tt.v, b[1:], VarintLen(tt.v), tt.b)
		}
		if v, n := Varint(append(tt.b, 0xff)); v != tt.v || n != len(tt.b) {
			t.Errorf("% x: %d in %d bytes, want %d in %d", tt.b, v, n, tt.v, len(tt.b))
		}
		if v, n := Varint(tt.b[:len(tt.b)-1]); n != 0 {
			t.Errorf("% x, cut: %d in %d bytes", tt.b, v, n)
		}
	}
}

func BenchmarkVarint(b *testing.B) {
	for _, v := range []uint64{100, 10_000, math.MaxUint64} {
		buf := AppendVarint(nil, v)
		b.Run(string('0'+rune(len(buf)))+"-bytes", func(b *testing.B) {
			for b.Loop() {
				if got, _ := Varint(buf); got != v {
					b.Fatal(got)
				}
			}
		})
	}
}
