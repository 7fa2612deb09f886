//go:build unix

package pgstore_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/pgstore"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
)

// administrate returns a function that sets a parameter of a server, for all its connections but
// the administrator's.
func administrate(t *testing.T, address string) (admin *pgx.Conn, set func(parameter string)) {
	t.Helper()
	admin, err := pgx.Connect(ctx, pgstore.PlainAddress(address)+"&default_transaction_read_only=off&synchronous_commit=off")
	must.Do(t, err)
	t.Cleanup(func() { _ = admin.Close(ctx) })
	return admin, func(parameter string) {
		t.Helper()
		for _, text := range []string{"ALTER SYSTEM SET " + parameter, "SELECT pg_reload_conf()"} {
			_, err := admin.Exec(ctx, text)
			must.Do(t, err)
		}
		name, value, _ := strings.Cut(parameter, " = ")
		eventually(t, func() bool { // the server tells all its processes before it starts another one
			c, err := pgx.Connect(ctx, pgstore.PlainAddress(address))
			must.Do(t, err)
			defer c.Close(ctx)
			var now string
			must.Do(t, c.QueryRow(ctx, "SELECT current_setting($1)", name).Scan(&now))
			return now == strings.Trim(value, "'")
		})
	}
}

// TestFence sets a server to read only, as before another one takes over. No way of changing a
// volume goes past it, and all work again when it has gone.
func TestFence(t *testing.T) {
	t.Parallel()
	address := pgserver.ForTest(t).Address("test")
	v := volumeAs(t, address, &pgstore.Options{Create: true, BusyTimeout: 2 * time.Second}, nil)
	_, set := administrate(t, address)
	must.Do(t, v.WriteFile("old", nil, 0o644))
	calls := map[string]func(name string) error{
		"WriteFile": func(name string) error { return v.WriteFile(name, []byte("text"), 0o644) },
		"large":     func(name string) error { return v.WriteFile(name, make([]byte, 20<<20), 0o644) },
		"Update": func(name string) error {
			return v.Update(ctx, func(tx *folio.Tx) error { return tx.WriteFile(name, []byte("text"), 0o644) })
		},
		"Clone": func(name string) error { return v.Clone("old", name) },
	}
	set("default_transaction_read_only = on")
	for what, call := range calls {
		if err := call("during " + what); !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("%s during the fence: %v", what, err)
		}
	}
	if _, err := v.ReadFile("old"); err != nil {
		t.Errorf("a read during the fence: %v", err)
	}
	reader, err := pgstore.Open(ctx, address, nil)
	if err != nil {
		t.Errorf("Open for reading: %v", err)
	} else {
		_ = reader.Close()
	}
	set("default_transaction_read_only = off")
	for what, call := range calls {
		if err := call("after " + what); err != nil {
			t.Errorf("%s after the fence: %v", what, err)
		}
	}
	if list, err := v.ReadDir("."); err != nil || len(list) != 1+len(calls) {
		t.Errorf("%v, %v", list, err)
	}
}

// TestUnconfirmed lets an administrator end the wait for a standby server that is away. The caller
// is told that the change is not safe.
func TestUnconfirmed(t *testing.T) {
	t.Parallel()
	address := pgserver.ForTest(t).Address("test")
	v := volume(t, address)
	admin, set := administrate(t, address)
	must.Do(t, v.WriteFile("old", nil, 0o644))
	set("synchronous_standby_names = 'nobody'")
	for what, call := range map[string]func() error{
		"WriteFile": func() error { return v.WriteFile("file", []byte("text"), 0o644) },
		"Update": func() error {
			return v.Update(ctx, func(tx *folio.Tx) error { return tx.WriteFile("other", []byte("text"), 0o644) })
		},
	} {
		done := make(chan error, 1)
		go func() { done <- call() }()
		var err error
		for ended := false; !ended; {
			_, e := admin.Exec(ctx, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
			must.Do(t, e)
			select {
			case err = <-done:
				ended = true
			case <-time.After(10 * time.Millisecond):
			}
		}
		if !errors.Is(err, pgstore.ErrUnknown) {
			t.Errorf("%s: %v", what, err)
		}
	}
	set("synchronous_standby_names = ''")
	must.Do(t, v.WriteFile("file", []byte("more"), 0o644))
}

// TestNumbersTwice uses numbers of inodes that a server has given and then forgotten.
func TestNumbersTwice(t *testing.T) {
	t.Parallel()
	address := pgserver.Volume(t)
	v, sql := volume(t, address), connect(t, address)
	must.Do(t, v.WriteFile("first", nil, 0o644))
	_, err := sql.Exec(ctx, `INSERT INTO node SELECT i, 33188, 1, 0, 0, 0, 0, 0, 0, 0, 0
FROM generate_series((SELECT max(ino) + 1 FROM node), (SELECT max(ino) + 20 FROM node)) AS i`)
	must.Do(t, err)
	must.Do(t, v.WriteFile("second", nil, 0o644))
	_, err = sql.Exec(context.Background(), `INSERT INTO node SELECT i, 33188, 1, 0, 0, 0, 0, 0, 0, 0, 0
FROM generate_series((SELECT max(ino) + 1 FROM node), (SELECT max(ino) + 20 FROM node)) AS i`)
	must.Do(t, err)
	third := func(tx *folio.Tx) error { return tx.WriteFile("third", nil, 0o644) }
	if err := v.Update(ctx, third); err != nil {
		must.Do(t, v.Update(ctx, third))
	}
}

// TestStandby opens a volume on a standby server, which can neither be written to nor listen, and
// lets a server become one while a volume is open.
func TestStandby(t *testing.T) {
	t.Parallel()
	server := pgserver.ForTest(t)
	address := server.Address("test")
	before := open(t, address, &pgstore.Options{Create: true, BusyTimeout: time.Second})
	v, err := folio.OpenStore(private.Key{}, before, nil)
	must.Do(t, err)
	must.Do(t, v.WriteFile("file", []byte("text"), 0o644))
	must.Do(t, server.Stop("fast"))
	must.Do(t, server.Follow())
	must.Do(t, server.Start())
	s := open(t, address, &pgstore.Options{MaxStaleness: time.Second})
	r, err := folio.OpenStore(private.Key{}, s, nil)
	must.Do(t, err)
	if p, err := r.ReadFile("file"); err != nil || string(p) != "text" {
		t.Errorf("%q, %v", p, err)
	}
	pgstore.Forget(before)
	for _, v := range []*folio.Volume{r, v} {
		f, err := v.Open("file")
		must.Do(t, err)
		must.Do(t, f.Close())
	}
	if err := r.WriteFile("file", nil, 0o644); !errors.Is(err, folio.ErrReadOnly) || !strings.Contains(err.Error(), "standby") {
		t.Errorf("a write: %v", err)
	}
	if after := pgstore.Listen(s); after != time.Minute {
		t.Errorf("it tries to listen again after %v", after)
	}
}
