//go:build unix

package pgstore_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
)

var roundTrip = flag.Duration("network", 0, "the round-trip time of the network in TestTrips, such as 2.3ms")

// A network stands between Stores and the server: it delays what they send each other, and counts
// how often a client has to wait for the server.
type network struct {
	half  time.Duration // of a round trip
	trips atomic.Int64
}

// newNetwork returns a network, and the address of a volume behind it.
func newNetwork(t testing.TB, address string, roundTrip time.Duration) (n *network, through string) {
	t.Helper()
	_, after, _ := strings.Cut(address, "host=")
	host, _, _ := strings.Cut(after, "&")
	dir, err := os.MkdirTemp("/tmp", "pg") // the name of a socket is short
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	const socket = ".s.PGSQL.5432"
	l, err := net.Listen("unix", filepath.Join(dir, socket))
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	n = &network{half: roundTrip / 2}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("unix", filepath.Join(host, socket))
			if err != nil {
				_ = client.Close()
				return
			}
			asked := new(atomic.Bool) // the server has not answered since
			go n.carry(server, client, func() { asked.Store(true) })
			go n.carry(client, server, func() {
				if asked.CompareAndSwap(true, false) {
					n.trips.Add(1)
				}
			})
		}
	}()
	return n, strings.Replace(address, "host="+host, "host="+dir, 1)
}

// carry copies from one connection to another, each part when its time has come.
func (n *network) carry(to, from net.Conn, note func()) {
	type part struct {
		due   time.Time
		bytes []byte
	}
	parts := make(chan part, 1<<10)
	go func() {
		defer close(parts)
		for {
			p := make([]byte, 64<<10)
			got, err := from.Read(p)
			if err != nil {
				return
			}
			note()
			parts <- part{time.Now().Add(n.half), p[:got]}
		}
	}()
	for p := range parts {
		time.Sleep(time.Until(p.due))
		if _, err := to.Write(p.bytes); err != nil {
			break
		}
	}
	_, _ = to.Close(), from.Close()
	for range parts {
		continue
	}
}

// TestTrips counts how often calls wait for the server.
func TestTrips(t *testing.T) {
	n, address := newNetwork(t, pgserver.Volume(t), *roundTrip)
	v := uncached(t, open(t, address, nil))
	const files = 200
	must(t, v.MkdirAll("a/b/c", 0o755))
	name := func(i int) string { return fmt.Sprintf("a/b/c/%03d", i) }
	for i := range files {
		must(t, v.WriteFile(name(i), []byte("content"), 0o644))
	}
	each := func(call func(i int) error) func() error {
		return func() (err error) {
			for _, i := range rand.Perm(files) {
				err = errors.Join(err, call(i))
			}
			return err
		}
	}
	walk := func() error {
		return v.View(ctx, func(rx *folio.Rx) error {
			list, err := fs.ReadDir(rx.FS(), "a/b/c")
			for _, e := range list {
				_, readErr := fs.ReadFile(rx.FS(), "a/b/c/"+e.Name())
				err = errors.Join(err, readErr)
			}
			return err
		})
	}
	for _, c := range []struct {
		name string
		most float64 // trips of a call
		do   func() error
	}{
		{"Stat", 1, each(func(i int) error { _, err := v.Stat(name(i)); return err })},
		{"ReadFile", 1, each(func(i int) error { _, err := v.ReadFile(name(i)); return err })},
		{"WriteFile of a new file", 1, each(func(i int) error { return v.WriteFile(fmt.Sprint("a/b/", i), []byte("content"), 0o644) })},
		{"a file of a walk that reads all", 0.1, walk},
	} {
		before, begun := n.trips.Load(), time.Now()
		must(t, c.do())
		took, trips := time.Since(begun)/files, float64(n.trips.Load()-before)/files
		if trips > c.most+0.1 {
			t.Errorf("%s takes %.2f trips, want at most %.1f", c.name, trips, c.most)
		}
		t.Logf("%-32s %5.2f trips %10v", c.name, trips, took.Round(time.Microsecond))
	}
}
