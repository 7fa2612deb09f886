//go:build unix

package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/pgstore"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
)

// TestLocks holds the locks of a transaction that changes a directory, and looks which changes wait
// for it.
func TestLocks(t *testing.T) {
	t.Parallel()
	address := pgserver.Volume(t)
	s, err := pgstore.Open(context.Background(), address+"&lock_timeout=100", &pgstore.Options{Create: true}) // milliseconds
	must.Do(t, err)
	v, err := folio.OpenStore(private.Key{}, s, nil)
	must.Do(t, err)
	defer v.Close()
	must.Do(t, v.MkdirAll("held/below", 0o755))
	must.Do(t, v.MkdirAll("free", 0o755))
	must.Do(t, v.WriteFile("held/file", []byte("old"), 0o644))
	must.Do(t, v.WriteFile("free/old", nil, 0o644))
	info, err := v.Stat("held")
	must.Do(t, err)
	held := info.Sys().(*folio.Node).Ino
	volumeKey, heldKey := pgstore.LockKeys(s, store.Ino(held))

	c, ctx := connect(t, address), context.Background()
	must.Do(t, pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock_shared($1), pg_advisory_xact_lock($2)", volumeKey, heldKey)
		must.Do(t, err)
		for name, do := range map[string]func() error{
			"a file in another directory": func() error { return v.WriteFile("free/file", []byte("new"), 0o644) },
			"a directory beside it":       func() error { return v.Mkdir("beside", 0o755) },
			"a name from elsewhere":       func() error { return v.Rename("free/old", "old") },
		} {
			if err := do(); err != nil {
				t.Errorf("%s: %v, but it should not wait", name, err)
			}
		}
		for name, do := range map[string]func() error{
			"a file in the directory": func() error { return v.WriteFile("held/new", nil, 0o644) },
			"a file below it":         func() error { return v.WriteFile("held/below/new", nil, 0o644) },
			"its attributes":          func() error { return v.Chmod("held", 0o700) },
			"its name":                func() error { return v.Rename("held", "moved") },
			"a removal":               func() error { return v.Remove("held/file") },
			"a transaction":           func() error { return v.Update(ctx, func(tx *folio.Tx) error { return tx.Mkdir("other", 0o755) }) },
		} {
			if err := do(); !errors.Is(err, folio.ErrBusy) {
				t.Errorf("%s: %v, but it should wait until it is %v", name, err, folio.ErrBusy)
			}
		}
		return nil
	}))
	must.Do(t, v.WriteFile("held/new", nil, 0o644))
}

// TestManyLocks lets groups of changes concern more inodes than a transaction locks one by one,
// through two Stores at once. No link that either makes is lost in the counts.
func TestManyLocks(t *testing.T) {
	t.Parallel()
	const files, links = 90, 30
	address := pgserver.Volume(t)
	volumes := []*folio.Volume{volume(t, address), volume(t, address)}
	for i := range files {
		must.Do(t, volumes[0].WriteFile(strconv.Itoa(i), nil, 0o644))
	}
	var wg sync.WaitGroup
	for k, v := range volumes {
		for i := range files {
			wg.Go(func() {
				for n := range links {
					if err := v.Link(strconv.Itoa(i), fmt.Sprintf("%d-%d-%d", i, k, n)); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	for i := range files {
		info, err := volumes[1].Stat(strconv.Itoa(i))
		must.Do(t, err)
		if n := info.Sys().(*folio.Node).Nlink; n != 1+2*links {
			t.Errorf("file %d has %d names, want %d", i, n, 1+2*links)
		}
	}
}
