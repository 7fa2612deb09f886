package chunkcache_test

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/foliofs/folio/internal/store/pgstore/chunkcache"
)

func content(i int) []byte {
	p := bytes.Repeat([]byte{byte(i), byte(i >> 8)}, chunkcache.ChunkSize/2)
	return p[:len(p)-i%1000]
}

// TestCache lets goroutines use a cache that has room for a tenth of the chunks. It must never give
// wrong bytes, nor take more room than it may.
func TestCache(t *testing.T) {
	for _, dir := range []string{"", t.TempDir()} {
		const limit = 20 * chunkcache.ChunkSize
		c, err := chunkcache.New(dir, limit)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 2000 {
					i := rand.IntN(200)
					k, p := chunkcache.Key{Object: [16]byte{byte(i)}, At: int64(i)}, content(i)
					off := rand.IntN(len(p) - 100)
					got := make([]byte, 100)
					switch {
					case !c.ReadAt(k, len(p), chunkcache.Sum(p), got, off):
						c.Put(k, p)
					case !bytes.Equal(got, p[off:off+100]):
						t.Errorf("chunk %d has other bytes", i)
					}
					if c.Size() > limit {
						t.Errorf("it takes %d bytes", c.Size())
					}
				}
			})
		}
		wg.Wait()
		if c.Size() < limit/2 {
			t.Errorf("it takes %d bytes of %d", c.Size(), limit)
		}
		c.Close()
	}
}

// TestDamage damages the chunks in a file, and lets its disk fail. They are not there then.
func TestDamage(t *testing.T) {
	c, err := chunkcache.New(t.TempDir(), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	k, p := chunkcache.Key{At: 1}, content(1)
	got := make([]byte, len(p))
	read := func() bool { return c.ReadAt(k, len(p), chunkcache.Sum(p), got, 0) }
	c.Put(k, p)
	if !read() || !bytes.Equal(got, p) {
		t.Fatal("it is not there")
	}
	c.Damage()
	if read() || c.Has(k) {
		t.Error("it is there although it is damaged")
	}
	c.Put(k, p)
	if !read() {
		t.Error("it does not come back")
	}
	c.Break()
	k.At = 2
	c.Put(k, p)
	if read() || c.Has(k) {
		t.Error("it is there although it could not be written")
	}
}
