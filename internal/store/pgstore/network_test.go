//go:build unix

package pgstore_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store/pgstore/pgproxy"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
)

var roundTrip = flag.Duration("network", 0, "the round-trip time of the network in TestTrips, such as 2.3ms")

// behind returns a proxy before the server, and the address of a volume through it.
func behind(t testing.TB, address string, roundTrip time.Duration) (p *pgproxy.Proxy, through string) {
	t.Helper()
	p, through, err := pgproxy.New(address, roundTrip)
	must.Do(t, err)
	t.Cleanup(p.Close)
	return p, through
}

// TestTrips counts how often calls wait for the server.
func TestTrips(t *testing.T) {
	n, address := behind(t, pgserver.Volume(t), *roundTrip)
	v := uncached(t, open(t, address, nil))
	const files = 200
	must.Do(t, v.MkdirAll("a/b/c", 0o755))
	name := func(i int) string { return fmt.Sprintf("a/b/c/%03d", i) }
	for i := range files {
		must.Do(t, v.WriteFile(name(i), []byte("content"), 0o644))
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
		before, begun := n.Trips(), time.Now()
		must.Do(t, c.do())
		took, trips := time.Since(begun)/files, float64(n.Trips()-before)/files
		if trips > c.most+0.1 {
			t.Errorf("%s takes %.2f trips, want at most %.1f", c.name, trips, c.most)
		}
		t.Logf("%-32s %5.2f trips %10v", c.name, trips, took.Round(time.Microsecond))
	}
}

// TestSlowServer ends calls to a server that takes longer to answer than their contexts allow. The
// volume can be used on.
func TestSlowServer(t *testing.T) {
	t.Parallel()
	const roundTrip = 50 * time.Millisecond
	_, address := behind(t, pgserver.Volume(t), roundTrip)
	v := uncached(t, open(t, address, nil))
	must.Do(t, v.WriteFile("f", []byte("old"), 0o644))
	for what, call := range map[string]func(r *folio.Root) error{
		"ReadFile":  func(r *folio.Root) error { _, err := r.ReadFile("f"); return err },
		"Stat":      func(r *folio.Root) error { _, err := r.Stat("f"); return err },
		"WriteFile": func(r *folio.Root) error { return r.WriteFile("f", []byte("new"), 0o644) },
		"WriteFrom": func(r *folio.Root) error { _, err := r.WriteFrom("f", strings.NewReader("new"), 0o644); return err },
	} {
		soon, cancel := context.WithTimeout(ctx, roundTrip/10)
		if err := call(v.WithContext(soon)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", what, err)
		}
		cancel()
	}
	if p, err := v.WithContext(ctx).ReadFile("f"); err != nil || string(p) != "old" {
		t.Errorf("%q, %v", p, err)
	}
}
