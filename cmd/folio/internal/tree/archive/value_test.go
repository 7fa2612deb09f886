package archive

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestValueRoom checks that a content takes its own size in memory, and that a compressed one that
// is not shorter is not kept.
func TestValueRoom(t *testing.T) {
	t.Parallel()
	const size = 5 << 20
	content := make([]byte, size)
	rand.NewChaCha8([32]byte{}).Read(content)
	var v value
	var s shorter
	for range 2 {
		v.reset(size)
		s.reset(size)
		for p := content; len(p) > 0; p = p[1<<16:] {
			v.Write(p[:1<<16])
			s.Write(p[:1<<16])
		}
		if !bytes.Equal(v.Bytes(), content) || v.Cap() > size+size/10 {
			t.Errorf("%d bytes take %d", size, v.Cap())
		}
		if s.fits || s.Cap() > size+size/10 {
			t.Errorf("a compressed content of %d bytes is kept: %t, in %d bytes", size, s.fits, s.Cap())
		}
	}
	s.reset(size)
	if s.Write(content[:size-1]); !s.fits || s.Len() != size-1 {
		t.Error("a content that is shorter is not kept")
	}
	if v.reset(0); v.Bytes() == nil {
		t.Error("no content is no value")
	}
}
