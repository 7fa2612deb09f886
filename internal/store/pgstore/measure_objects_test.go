//go:build unix

package pgstore_test

import (
	"bytes"
	"context"
	"flag"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store/pgstore"
	"github.com/foliofs/folio/internal/store/pgstore/bucket"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
	"github.com/foliofs/folio/internal/store/pgstore/s3server"
)

var (
	measured     = flag.Bool("measure", false, "measure large contents next to the client of the bucket alone")
	measuredSize = flag.Int("measure.size", 1024, "MiB of the file that TestMeasureObjects writes and reads")
)

// TestMeasureObjects prints the figures of docs/howto/machines.md about large contents, next to
// those of the client of S3 alone in the same run:
//
//	go test -run TestMeasureObjects -measure -v .
func TestMeasureObjects(t *testing.T) {
	if !*measured {
		t.Skip("-measure measures")
	}
	server, err := pgserver.New("max_connections=200", "shared_buffers=256MB")
	must.Do(t, err)
	t.Cleanup(server.Close)
	s3 := s3server.Shared(t)
	open := func(o pgstore.Options) (*folio.Volume, *pgstore.Store) {
		s, err := pgstore.Open(ctx, server.Address("objects"), &o)
		must.Do(t, err)
		v, err := folio.OpenStore(private.Key{}, s, nil)
		must.Do(t, err)
		t.Cleanup(func() { _ = v.Close() })
		return v, s
	}
	v, _ := open(pgstore.Options{Create: true, Bucket: s3.Address(s3server.Bucket(t))})
	address, err := bucket.Parse(s3.Address(s3server.Bucket(t)))
	must.Do(t, err)
	client, err := bucket.New(address, time.Minute)
	must.Do(t, err)
	content := randomBytes(*measuredSize << 20)
	rate := func(what string, fn func()) float64 {
		begun := time.Now()
		fn()
		mb := float64(len(content)) / 1e6 / time.Since(begun).Seconds()
		t.Logf("%-40s %.0f MB/s", what, mb)
		return mb
	}
	const each = 4 << 20
	alone := func(fn func(n bucket.Name, part []byte) error) {
		var g errgroup.Group
		g.SetLimit(8)
		for off := 0; off < len(content); off += each {
			g.Go(func() error {
				return fn(bucket.Name{byte(off >> 22), byte(off >> 30)}, content[off:min(len(content), off+each)])
			})
		}
		must.Do(t, g.Wait())
	}
	for range 5 {
		put := rate("the client alone writes", func() {
			alone(func(n bucket.Name, part []byte) error {
				return client.Put(context.Background(), n, bytes.NewReader(part), int64(len(part)))
			})
		})
		whole := rate("WriteFile", func() { must.Do(t, v.WriteFile("file", content, 0o644)) })
		stream := rate("WriteFrom", func() { _, err := v.WriteFrom("stream", bytes.NewReader(content), 0o644); must.Do(t, err) })
		get := rate("the client alone reads", func() {
			alone(func(n bucket.Name, part []byte) error {
				return client.Get(context.Background(), n, make([]byte, len(part)), 0, nil)
			})
		})
		cold, _ := open(pgstore.Options{})
		var got []byte
		read := rate("ReadFile", func() { got, err = cold.ReadFile("file") })
		if err != nil || !bytes.Equal(got, content) {
			t.Error("other bytes", err)
		}
		must.Do(t, cold.Close())
		cold, _ = open(pgstore.Options{})
		f, err := cold.Open("file")
		must.Do(t, err)
		clear(got)
		into := rate("ReadAt into the same bytes", func() { _, err = f.ReadAt(got, 0) })
		if err != nil || !bytes.Equal(got, content) {
			t.Error("other bytes", err)
		}
		must.Do(t, f.Close())
		must.Do(t, cold.Close())
		cold, _ = open(pgstore.Options{})
		f, err = cold.Open("file")
		must.Do(t, err)
		copied := int64(0)
		streamed := rate("WriteTo", func() { copied, err = f.WriteTo(io.Discard) })
		if err != nil || copied != int64(len(content)) {
			t.Errorf("%d bytes, %v", copied, err)
		}
		must.Do(t, f.Close())
		must.Do(t, cold.Close())
		t.Logf("write %.2f and %.2f times the client, read %.2f, %.2f and %.2f times",
			whole/put, stream/put, read/get, into/get, streamed/get)
	}
	for _, dir := range []string{"", t.TempDir()} {
		warm, _ := open(pgstore.Options{CacheDir: dir, CacheSize: 256 << 20})
		f, err := warm.Open("file")
		must.Do(t, err)
		defer f.Close()
		size := min(len(content), 128<<20)
		_, err = f.ReadAt(make([]byte, size), 0)
		must.Do(t, err)
		p := make([]byte, 4096)
		off := func() int64 { return int64(rand.IntN(size/4096)) * 4096 }
		trip := median(t, 2000, func() error { _, err := f.ReadAt(p, off()); return err })
		must.Do(t, warm.View(ctx, func(rx *folio.Rx) error {
			f, err := rx.Open("file")
			must.Do(t, err)
			defer f.Close()
			view := median(t, 2000, func() error { _, err := f.ReadAt(p, off()); return err })
			t.Logf("4 KiB at random, warm, cache in %q: %v; in a View %v", strings.TrimLeft(dir, "/")[:min(len(dir), 3)], trip, view)
			return nil
		}))
	}
}

// median returns the median time of a call.
func median(t *testing.T, rounds int, fn func() error) time.Duration {
	t.Helper()
	times := make([]time.Duration, rounds)
	for i := range times {
		begun := time.Now()
		must.Do(t, fn())
		times[i] = time.Since(begun)
	}
	slices.Sort(times)
	return times[rounds/2]
}
