//go:build unix

package pgstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/pgstore"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
	"github.com/foliofs/folio/internal/store/pgstore/s3server"
)

var ctx = context.Background()

// randomBytes returns bytes that no other call returns.
func randomBytes(n int) []byte {
	p := make([]byte, n)
	r := rand.NewChaCha8([32]byte{byte(rand.Int()), byte(rand.Int()), byte(rand.Int()), byte(rand.Int())})
	_, _ = r.Read(p)
	return p
}

// volumeWithBucket returns a new volume whose large contents are in a new bucket.
func volumeWithBucket(t testing.TB, o pgstore.Options) (v *folio.Volume, s *pgstore.Store, bucket string) {
	t.Helper()
	bucket = s3server.Bucket(t)
	o.Create, o.Bucket = true, s3server.Shared(t).Address(bucket)
	s, err := pgstore.Open(ctx, pgserver.Volume(t), &o)
	must.Do(t, err)
	v, err = folio.OpenStore(private.Key{}, s, nil)
	must.Do(t, err)
	t.Cleanup(func() { _ = v.Close() })
	return v, s, bucket
}

// checkWell checks a volume, its objects too.
func checkWell(t testing.TB, v *folio.Volume) {
	t.Helper()
	report, err := v.Check(ctx, nil)
	if err != nil || !report.OK() {
		t.Errorf("check: %+v, %v", report, err)
	}
}

// objectsOf returns what the volume has in its bucket.
func objectsOf(t testing.TB, s *pgstore.Store) store.ObjectInfo {
	t.Helper()
	info, err := s.Objects(ctx)
	must.Do(t, err)
	return info
}

// TestObjects writes and reads large files in each way that there is, and compares them with the
// same bytes in memory.
func TestObjects(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]pgstore.Options{"memory": {}, "file": {CacheDir: t.TempDir()}, "no cache": {CacheSize: -1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, s, _ := volumeWithBucket(t, o)
			want := randomBytes(20<<20 + 12345)
			must.Do(t, v.WriteFile("whole", want, 0o644))
			_, err := v.WriteFrom("stream", bytes.NewReader(want), 0o644)
			must.Do(t, err)
			must.Do(t, v.WriteFile("small", want[:5000], 0o644))
			must.Do(t, v.CloneFile("whole", "clone"))
			for _, name := range []string{"whole", "stream", "clone"} {
				got, err := v.ReadFile(name)
				if err != nil || !bytes.Equal(got, want) {
					t.Fatalf("%s: %d bytes, %v", name, len(got), err)
				}
			}
			info := objectsOf(t, s)
			if info.Bytes < 40<<20 || info.Waiting != 0 || info.Used != info.Bytes+20<<20 {
				t.Errorf("%+v", info)
			}
			first := bytes.Clone(want)
			f, err := v.OpenFile("whole", 2, 0)
			must.Do(t, err)
			defer f.Close()
			for range 100 {
				off := rand.IntN(len(want))
				p := randomBytes(min(1+rand.IntN(200_000), len(want)-off))
				_, err := f.WriteAt(p, int64(off))
				must.Do(t, err)
				copy(want[off:], p)
				off = rand.IntN(len(want))
				got := make([]byte, 1+rand.IntN(300_000))
				n, err := f.ReadAt(got, int64(off))
				if err != nil && err != io.EOF || !bytes.Equal(got[:n], want[off:off+n]) || n < min(len(got), len(want)-off) {
					t.Fatalf("read of %d bytes at %d: %d, %v", len(got), off, n, err)
				}
			}
			if got, err := v.ReadFile("clone"); err != nil || !bytes.Equal(got, first) {
				t.Fatalf("clone: %d bytes, %v", len(got), err)
			}
			checkWell(t, v)
			for _, size := range []int{len(want) - 1, 5<<20 + 77, 3 << 20, 100, 0} {
				must.Do(t, f.Truncate(int64(size)))
				want = want[:size]
				if got, err := v.ReadFile("whole"); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("cut to %d: %d bytes, %v", size, len(got), err)
				}
				checkWell(t, v)
			}
			if info := objectsOf(t, s); info.Waiting == 0 {
				t.Errorf("no object waits for the sweep: %+v", info)
			}
		})
	}
}

// TestObjectsOfUpdate writes large files in transactions that succeed, fail and read what they have
// written.
func TestObjectsOfUpdate(t *testing.T) {
	t.Parallel()
	v, s, _ := volumeWithBucket(t, pgstore.Options{})
	a, b := randomBytes(9<<20), randomBytes(1<<20)
	failed := errors.New("failed")
	write := func(end error) error {
		return v.Update(ctx, func(tx *folio.Tx) error {
			for i := range 3 {
				must.Do(t, tx.WriteFile(fmt.Sprint("file-", i), a, 0o644))
				must.Do(t, tx.WriteFile(fmt.Sprint("other-", i), b, 0o644))
			}
			got, err := tx.ReadFile("file-1")
			if err != nil || !bytes.Equal(got, a) {
				t.Errorf("read back: %d bytes, %v", len(got), err)
			}
			f, err := tx.OpenFile("other-1", 2, 0)
			must.Do(t, err)
			defer f.Close()
			_, err = f.WriteAt([]byte("in the middle"), 500_000)
			must.Do(t, err)
			return end
		})
	}
	if err := write(failed); !errors.Is(err, failed) {
		t.Fatal(err)
	}
	if info := objectsOf(t, s); info.Objects != 0 || info.Chunks != 0 {
		t.Errorf("after a transaction that failed: %+v", info)
	}
	must.Do(t, write(nil))
	copy(b[500_000:], "in the middle")
	for name, want := range map[string][]byte{"file-2": a, "other-1": b} {
		if got, err := v.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	checkWell(t, v)
}
