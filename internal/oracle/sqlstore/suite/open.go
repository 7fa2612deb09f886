package suite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/sqlstore"
	"github.com/foliofs/folio/internal/store/storetest"
)

// Exec runs statements on a database, which is made if it is not there.
func (d *Driver) Exec(t *testing.T, path string, queries ...string) {
	t.Helper()
	db, err := sql.Open(d.Name, path)
	must.Do(t, err)
	defer db.Close()
	for _, query := range queries {
		if _, err := db.Exec(query); err != nil {
			t.Fatal(query, err)
		}
	}
}

// Count returns the number that a query gives.
func (d *Driver) Count(t *testing.T, path, query string) (n int) {
	t.Helper()
	db, err := sql.Open(d.Name, path)
	must.Do(t, err)
	defer db.Close()
	must.Do(t, db.QueryRow(query).Scan(&n))
	return n
}

// refusals are files that are no volumes, and the error that Open must return for each.
var refusals = map[string]struct {
	content string // of the file; statements make it if that is empty
	queries []string
	is      error
	text    string
}{
	"no file":     {"", nil, store.ErrNotVolume, "Options.Create"},
	"text":        {strings.Repeat("hello\n", 1000), nil, nil, "not a database"},
	"foreign":     {"", []string{"CREATE TABLE t (a)", "PRAGMA application_id = 252006674"}, store.ErrNotVolume, "application_id 0x0f055112"},
	"no id":       {"", []string{"CREATE TABLE t (a)"}, store.ErrNotVolume, "application_id 0x00000000"},
	"newer":       {"", header(store.ApplicationID, 3), store.ErrNewerVersion, "update"},
	"clones":      {"", header(store.ApplicationID, 2), store.ErrDamaged, "no such table"},
	"version 0":   {"", header(store.ApplicationID, 0), store.ErrDamaged, "user_version is 0"},
	"no tables":   {"", header(store.ApplicationID, 1), store.ErrDamaged, "no such table"},
	"other shape": {"", append(header(store.ApplicationID, 1), "CREATE TABLE node (ino INTEGER PRIMARY KEY)"), store.ErrDamaged, "no such column"},
}

func header(application, version int) []string {
	return []string{fmt.Sprint("PRAGMA application_id = ", application), fmt.Sprint("PRAGMA user_version = ", version)}
}

// testRefusals opens files that are no volumes. The error is one line that names the file.
func (d *Driver) testRefusals(t *testing.T) {
	for name, r := range refusals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "test.folio")
			if r.content != "" {
				must.Do(t, os.WriteFile(path, []byte(r.content), 0o600))
			}
			d.Exec(t, path, r.queries...)
			_, err := sqlstore.Open(d.Name, path, nil)
			pe, ok := errors.AsType[*fs.PathError](err)
			if !ok || !strings.HasSuffix(pe.Path, path) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v does not name %s in one line", err, path)
			}
			if err == nil || r.is != nil && !errors.Is(err, r.is) || !strings.Contains(err.Error(), r.text) {
				t.Errorf("%v, want %v with %q", err, r.is, r.text)
			}
		})
	}
}

// testErrors checks that errors of the driver become those of package store.
func (d *Driver) testErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.folio")
	s := d.Open(t, path, &sqlstore.Options{Create: true, BusyTimeout: -1})
	change := func(tx store.Tx) error { return tx.SetXattr(store.Root, "user.a", make([]byte, 60_000)) }
	t.Run("busy", func(t *testing.T) {
		other := d.Open(t, path, nil)
		must.Do(t, other.Update(context.Background(), func(tx store.Tx) error {
			if err := s.Update(context.Background(), change); !errors.Is(err, store.ErrBusy) {
				t.Errorf("%v, want ErrBusy", err)
			}
			return nil
		}))
		must.Do(t, s.Update(context.Background(), change))
	})
	t.Run("busy, and cancelled", func(t *testing.T) {
		patient, other := d.Open(t, path, &sqlstore.Options{BusyTimeout: time.Hour}), d.Open(t, path, nil)
		must.Do(t, other.Update(context.Background(), func(store.Tx) error {
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
			defer cancel()
			if err := patient.Update(ctx, change); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v, want DeadlineExceeded", err)
			}
			return nil
		}))
	})
	t.Run("read-only", func(t *testing.T) {
		ro := d.Open(t, path, &sqlstore.Options{ReadOnly: true, Create: true})
		must.Do(t, ro.Sync(context.Background()))
		if err := ro.Update(context.Background(), change); !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("%v, want ErrReadOnly", err)
		}
		ro, err := sqlstore.Open(d.Name, "file:"+path+"?mode=ro", nil)
		must.Do(t, err)
		defer ro.Close()
		if err := ro.Update(context.Background(), change); !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("%v, want ErrReadOnly", err)
		}
	})
	t.Run("full", func(t *testing.T) {
		if d.Full == nil {
			t.Skip("this driver has no pragmas in its DSN")
		}
		name, dsn := d.Full(path)
		full, err := sqlstore.Open(name, dsn, nil)
		must.Do(t, err)
		defer full.Close()
		err = full.Update(context.Background(), func(tx store.Tx) error {
			return tx.SetXattr(store.Root, "user.b", make([]byte, 1_000_000))
		})
		if !errors.Is(err, store.ErrFull) {
			t.Errorf("%v, want ErrFull", err)
		}
		must.Do(t, full.Update(context.Background(), func(tx store.Tx) error { return tx.SetXattr(store.Root, "user.b", []byte("b")) }))
		err = full.Update(context.Background(), func(tx store.Tx) error { // SQLite has rolled back when the next change comes
			if err := tx.SetXattr(store.Root, "user.b", make([]byte, 1_000_000)); !errors.Is(err, store.ErrFull) {
				t.Errorf("%v, want ErrFull", err)
			}
			if _, err := tx.Node(store.Root); !errors.Is(err, store.ErrFull) {
				t.Errorf("a read after that: %v, want ErrFull", err)
			}
			_, err := storetest.AddFile(tx, "file", nil)
			if !errors.Is(err, store.ErrFull) {
				t.Errorf("a change after that: %v, want ErrFull", err)
			}
			return nil
		})
		if !errors.Is(err, store.ErrFull) || d.Count(t, path, "SELECT count(*) FROM node") != 1 {
			t.Errorf("%v, want ErrFull, and no change", err)
		}
	})
	r, err := s.Check(context.Background(), nil)
	if err != nil || !r.OK() {
		t.Errorf("%v, %+v", err, r)
	}
}
