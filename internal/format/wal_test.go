package format

import (
	"bytes"
	"testing"
)

// TestWALHeaderFaults changes one thing at a time in a log header of SQLite's, with a checksum that
// fits.
func TestWALHeaderFaults(t *testing.T) {
	for _, name := range []string{"wal", "wal-be"} {
		good := goldenBytes(t, name)[:WALHeaderSize]
		tests := []struct {
			what   string
			change func(b []byte)
			ok     bool
		}{
			{"nothing", func([]byte) {}, true},
			{"magic", func(b []byte) { b[3] ^= 4 }, false},
			{"other byte order", func(b []byte) { b[3] ^= 1 }, true},
			{"version", func(b []byte) { b[7]++ }, true}, // for the caller to see
			{"page size 0", func(b []byte) { copy(b[8:], "\x00\x00\x00\x00") }, false},
			{"page size 256", func(b []byte) { copy(b[8:], "\x00\x00\x01\x00") }, false},
			{"page size 64 KiB", func(b []byte) { copy(b[8:], "\x00\x01\x00\x00") }, true},
			{"page size 128 KiB", func(b []byte) { copy(b[8:], "\x00\x02\x00\x00") }, false},
			{"page size 1", func(b []byte) { copy(b[8:], "\x00\x00\x00\x01") }, false},
			{"salt", func(b []byte) { b[16]++ }, true},
		}
		for _, tt := range tests {
			b := bytes.Clone(good)
			tt.change(b)
			if h, ok := ParseWALHeader(sealWALHeader(b)); ok != tt.ok {
				t.Errorf("%s, %s: %t, %+v", name, tt.what, ok, h)
			}
			b[31]++
			if _, ok := ParseWALHeader(b); ok {
				t.Errorf("%s, %s: ok with a wrong checksum", name, tt.what)
			}
		}
	}
}

// TestFrameFlips flips each bit of a log's first frame in turn. The frame must not be valid then,
// wherever it is.
func TestFrameFlips(t *testing.T) {
	for _, name := range []string{"wal", "wal-be"} {
		b := goldenBytes(t, name)
		h, _ := ParseWALHeader(b)
		frame := b[FrameOffset(1, h.PageSize):FrameOffset(2, h.PageSize)]
		for bit := range 8 * len(frame) {
			frame[bit/8] ^= 1 << (bit % 8)
			f, _ := ParseFrameHeader(frame)
			if f.Follows(&h, h.Checksum, frame[FrameHeaderSize:]) {
				t.Errorf("%s: valid with bit %d flipped", name, bit)
			}
			frame[bit/8] ^= 1 << (bit % 8)
		}
		f, _ := ParseFrameHeader(frame)
		if !f.Follows(&h, h.Checksum, frame[FrameHeaderSize:]) || f.Follows(&h, f.Checksum, frame[FrameHeaderSize:]) {
			t.Errorf("%s: the frame is not valid in its place, or elsewhere too", name)
		}
	}
}

func TestFrameOffset(t *testing.T) {
	if got := FrameOffset(1, 4096); got != 32 {
		t.Errorf("frame 1 at %d", got)
	}
	if got, want := FrameOffset(1<<32-1, 65536), int64(32+(1<<32-2)*(65536+24)); got != want {
		t.Errorf("the last frame at %d, want %d", got, want)
	}
}

func BenchmarkChecksum(b *testing.B) {
	page := bytes.Repeat([]byte("checksum"), 512)
	for name, bigEndian := range map[string]bool{"little": false, "big": true} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(page)))
			var sum Checksum
			for b.Loop() {
				sum = sum.Add(page, bigEndian)
			}
			if sum == (Checksum{}) {
				b.Fatal("no sum")
			}
		})
	}
}
