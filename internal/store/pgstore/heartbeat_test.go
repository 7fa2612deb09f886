//go:build unix

package pgstore_test

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store/pgstore"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
)

// expire lets a session of a volume die, as if the machine had slept for longer than its lease.
func expire(t testing.TB, address string, s *pgstore.Store) {
	t.Helper()
	_, err := connect(t, address).Exec(ctx, "DELETE FROM session WHERE id = $1", pgstore.SessionNumber(s))
	must.Do(t, err)
	pgstore.Forget(s)
}

// watched opens a volume by a Store that a test lets look for dead sessions and orphans.
func watched(t testing.TB, address string) (*folio.Volume, *pgstore.Store) {
	t.Helper()
	s := open(t, address, nil)
	v, err := folio.OpenStore(private.Key{}, s, nil)
	must.Do(t, err)
	return v, s
}

// sleeper opens a volume by a Store whose session makes no heartbeats of itself.
func sleeper(t testing.TB, address string) (*folio.Volume, *pgstore.Store) {
	t.Helper()
	v, s := watched(t, address)
	pgstore.Sleep(s)
	return v, s
}

// TestPinAfterSleep opens a file right after the session has died. It must be kept as any other.
func TestPinAfterSleep(t *testing.T) {
	t.Parallel()
	address := pgserver.Volume(t)
	v, s := sleeper(t, address)
	other, o := watched(t, address)
	must.Do(t, other.WriteFile("file", []byte("content"), 0o644))
	expire(t, address, s)
	f, err := v.Open("file")
	must.Do(t, err)
	must.Do(t, other.Remove("file"))
	must.Do(t, pgstore.Beat(o))
	p := make([]byte, 7)
	if _, err := f.ReadAt(p, 0); err != nil || string(p) != "content" {
		t.Errorf("%q, %v", p, err)
	}
	must.Do(t, f.Close())
}

// TestWriteFromAfterSleep begins a content right after the session has died, while another session
// removes all orphans that no session waits for.
func TestWriteFromAfterSleep(t *testing.T) {
	t.Parallel()
	address := pgserver.Volume(t)
	v, s := sleeper(t, address)
	must.Do(t, v.WriteFile("file", []byte("old"), 0o644))
	_, o := watched(t, address)
	expire(t, address, s)
	content := strings.Repeat("content", 500_000)
	_, err := v.WriteFrom("file", &tidyReader{Reader: strings.NewReader(content), tidy: func() error { return pgstore.Beat(o) }}, 0o644)
	must.Do(t, err)
	if got, err := v.ReadFile("file"); err != nil || string(got) != content {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// TestWriteFromAsleep lets the session die while a content is written. The error must not say that
// there is no file: the old one stays.
func TestWriteFromAsleep(t *testing.T) {
	t.Parallel()
	address := pgserver.Volume(t)
	v, s := sleeper(t, address)
	_, o := watched(t, address)
	must.Do(t, v.WriteFile("file", []byte("old"), 0o644))
	for _, size := range []int{0, 3_500_000} {
		r := &tidyReader{Reader: strings.NewReader(strings.Repeat("x", size)), tidy: func() error {
			expire(t, address, s)
			return pgstore.Beat(o)
		}}
		_, err := v.WriteFrom("file", r, 0o644)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%d bytes: %v", size, err)
		}
		if got, err := v.ReadFile("file"); err != nil || string(got) != "old" {
			t.Errorf("%q, %v", got, err)
		}
	}
}

// A tidyReader lets something happen before each read.
type tidyReader struct {
	io.Reader
	tidy func() error
}

func (r *tidyReader) Read(p []byte) (int, error) {
	if err := r.tidy(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// TestBeatWhileBusy keeps all connections in Views for longer than the lease.
func TestBeatWhileBusy(t *testing.T) {
	t.Parallel()
	const conns, lease = 2, time.Second
	address := pgserver.Volume(t)
	other, o := watched(t, address)
	must.Do(t, other.WriteFile("file", []byte("content"), 0o644))
	s := open(t, address, &pgstore.Options{MaxConns: conns, Lease: lease})
	v, err := folio.OpenStore(private.Key{}, s, nil)
	must.Do(t, err)
	begun := time.Now()
	f, err := v.Open("file")
	must.Do(t, err)
	end := make(chan struct{})
	var views sync.WaitGroup
	for range conns {
		views.Go(func() {
			must.Do(t, v.View(ctx, func(rx *folio.Rx) error {
				_, err := rx.Stat("file") // takes a connection
				<-end
				return err
			}))
		})
	}
	eventually(t, func() bool { return pgstore.Seen(s).Sub(begun) > 2*lease })
	must.Do(t, pgstore.Beat(o))
	must.Do(t, other.Remove("file"))
	must.Do(t, pgstore.Beat(o))
	close(end)
	views.Wait()
	p := make([]byte, 7)
	if _, err := f.ReadAt(p, 0); err != nil || string(p) != "content" {
		t.Errorf("%q, %v", p, err)
	}
	must.Do(t, f.Close())
}

// TestBeatAlone lets all fail that follows a heartbeat. The server must see the session all the
// same. A heartbeat that fails must be repeated soon.
func TestBeatAlone(t *testing.T) {
	t.Parallel()
	address := pgserver.Volume(t)
	s := open(t, address, nil)
	c := connect(t, address)
	seen := func() (at time.Time) {
		t.Helper()
		must.Do(t, c.QueryRow(ctx, "SELECT seen FROM session").Scan(&at))
		return at
	}
	before := seen()
	_, err := c.Exec(ctx, "ALTER TABLE version RENAME TO gone")
	must.Do(t, err)
	if err := pgstore.Beat(s); err == nil {
		t.Error("old versions were removed without a table")
	}
	if !seen().After(before) {
		t.Error("the session was not seen")
	}
	if after := pgstore.NextBeat(s, err); after != 10*time.Second {
		t.Errorf("the next beat comes after %v", after)
	}
	if after := pgstore.NextBeat(s, io.EOF); after != time.Second {
		t.Errorf("after one that has failed, the next beat comes after %v", after)
	}
}
