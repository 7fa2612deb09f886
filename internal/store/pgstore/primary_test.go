//go:build unix

package pgstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store/pgstore"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
)

// TestNoPrimary ends all connections, and lets the server be no primary for a moment, as during a
// failover. Calls and Open must wait for it.
func TestNoPrimary(t *testing.T) {
	t.Parallel()
	server := pgserver.ForTest(t)
	address := server.Address("test") + "&target_session_attrs=read-write"
	v, s := volume(t, address), open(t, address+"&synchronous_commit=off", nil)
	ctx := context.Background()
	admin, err := pgx.Connect(ctx, pgstore.PlainAddress(address)+"&default_transaction_read_only=off")
	must.Do(t, err)
	defer admin.Close(ctx)
	setPrimary := func(is string) {
		t.Helper()
		for _, text := range []string{"ALTER SYSTEM SET default_transaction_read_only = " + is, "SELECT pg_reload_conf()", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'folio'"} {
			_, err := admin.Exec(ctx, text)
			must.Do(t, err)
		}
	}
	for what, call := range map[string]func() error{
		"a change": func() error { return v.WriteFile("file", []byte("text"), 0o644) },
		"a read":   func() error { _, err := v.ReadDir("."); return err },
		"Info":     func() error { _, err := s.Info(ctx); return err },
		"Sync":     func() error { return s.Sync(ctx) },
		"the start": func() error {
			s, err := pgstore.Open(ctx, address, nil)
			if err == nil {
				err = s.Close()
			}
			return err
		},
	} {
		setPrimary("on")
		done := make(chan error)
		go func() { done <- call() }()
		select {
		case err := <-done:
			t.Errorf("%s did not wait for the primary: %v", what, err)
			go func() { done <- nil }()
		case <-time.After(300 * time.Millisecond):
		}
		setPrimary("off")
		if err := <-done; err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}
