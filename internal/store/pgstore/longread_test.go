//go:build unix

package pgstore_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store/pgstore"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
	"github.com/foliofs/folio/internal/store/pgstore/s3server"
)

// TestLongReads reads much at once of a file that has objects, rows and holes, with caches of
// several kinds, and while other readers read the same.
func TestLongReads(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]pgstore.Options{
		"memory": {}, "small": {CacheSize: 3 << 20}, "file": {CacheDir: t.TempDir()}, "no cache": {CacheSize: -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := pgserver.Volume(t)
			writer := openLong(t, address, pgstore.Options{Create: true, Bucket: s3server.Shared(t).Address(s3server.Bucket(t))})
			want := mixedFile(t, writer, "file")
			v := openLong(t, address, o)
			rounds := 3
			if testing.Short() { // the race detector looks at each byte
				rounds = 1
			}
			for range rounds {
				var wg sync.WaitGroup
				for range 3 {
					wg.Go(func() { readLong(t, v, "file", want) })
				}
				wg.Wait()
			}
			if got, err := v.ReadFile("file"); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
}

// openLong opens a volume as one more client.
func openLong(t *testing.T, address string, o pgstore.Options) *folio.Volume {
	t.Helper()
	s, err := pgstore.Open(ctx, address, &o)
	must.Do(t, err)
	v, err := folio.OpenStore(private.Key{}, s, nil)
	must.Do(t, err)
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// mixedFile writes a file of objects, rows and holes, whose chunks are not all whole.
func mixedFile(t *testing.T, v *folio.Volume, name string) []byte {
	t.Helper()
	want := randomBytes(22<<20 + 12345)
	must.Do(t, v.WriteFile(name, want, 0o644))
	f, err := v.OpenFile(name, os.O_RDWR, 0)
	must.Do(t, err)
	defer f.Close()
	write := func(off, size int) {
		p := randomBytes(size)
		_, err := f.WriteAt(p, int64(off))
		must.Do(t, err)
		want = append(want, make([]byte, max(0, off+size-len(want)))...)
		copy(want[off:], p)
	}
	for range 20 {
		write(rand.IntN(len(want)-100_000), 1+rand.IntN(100_000))
	}
	write(27<<20+777, 9<<20) // behind a hole, by objects
	write(37<<20, 100)       // and by a row
	return want
}

// readLong reads parts of a file and compares them.
func readLong(t *testing.T, v *folio.Volume, name string, want []byte) {
	f, err := v.Open(name)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	for range 4 {
		off := rand.IntN(len(want))
		p := randomBytes(len(want) - rand.IntN(len(want)/2))
		guard := p[len(p)-1000:]
		p = p[: len(p)-1000 : len(p)]
		was := bytes.Clone(guard)
		n, err := f.ReadAt(p, int64(off))
		if end := min(len(want), off+len(p)); n != end-off || err != nil && err != io.EOF || !bytes.Equal(p[:n], want[off:end]) {
			t.Errorf("%d of %d bytes at %d, %v", n, len(p), off, err)
		}
		if !bytes.Equal(guard, was) {
			t.Errorf("a read of %d bytes at %d writes behind them", len(p), off)
		}
	}
}

// TestLongReadsWithFaults reads much at once while the bucket fails: what is read without an error
// is right, and the bytes are the caller's again when the call returns.
func TestLongReadsWithFaults(t *testing.T) {
	t.Parallel()
	for _, f := range []fault{noFault, unreachable, slow, cutReply, wrongBytes, status503} {
		t.Run(fmt.Sprint(f), func(t *testing.T) {
			t.Parallel()
			address := pgserver.Volume(t)
			p := newFaultyPair(t, address, address, pgstore.Options{CacheSize: -1})
			want := randomBytes(9<<20 + 99)
			must.Do(t, p.plain.WriteFile("file", want, 0o644))
			if f == noFault {
				p.proxy.chance.Store(30)
			} else {
				p.proxy.set("GET", f)
			}
			for range 4 {
				got, err := p.v.ReadFile("file")
				if err == nil && !bytes.Equal(got, want) {
					t.Error("other bytes")
				}
			}
			p.proxy.chance.Store(0)
			p.proxy.set("", noFault)
			// A busy machine may need longer than the short time that requests have here.
			eventually(t, func() bool {
				got, err := p.v.ReadFile("file")
				if err == nil && !bytes.Equal(got, want) {
					t.Error("other bytes")
				}
				return err == nil
			})
		})
	}
}

// TestRepeatedRead lets a request break in the middle, and damages what the next one gives: bytes
// that were compared before do not count.
func TestRepeatedRead(t *testing.T) {
	t.Parallel()
	address := pgserver.Volume(t)
	p := newFaultyPair(t, address, address, pgstore.Options{CacheSize: -1})
	p.proxy.next = make(chan fault, 2)
	want := randomBytes(1 << 20)
	must.Do(t, p.plain.WriteFile("file", want, 0o644))
	for range 10 {
		p.proxy.next <- cutReply
		p.proxy.next <- wrongBytes
		if got, err := p.v.ReadFile("file"); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	}
}
