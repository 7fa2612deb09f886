package sqlstore_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/oracle/sqlstore/suite"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/sqlstore"
	"github.com/foliofs/folio/internal/store/storetest"
)

// TestLimit opens a volume in a DB that allows few connections.
func TestLimit(t *testing.T) {
	eachDriver(t, func(t *testing.T, d *suite.Driver) {
		path := filepath.Join(t.TempDir(), "test.folio")
		must.Do(t, d.Open(t, path, &sqlstore.Options{Create: true}).Close())
		db, err := sql.Open(d.Name, path)
		must.Do(t, err)
		defer db.Close()
		db.SetMaxOpenConns(3)
		if _, err := sqlstore.OpenDB(db, nil); err == nil || !strings.Contains(err.Error(), "SetMaxOpenConns") {
			t.Errorf("%v", err)
		}
		db.SetMaxOpenConns(4)
		s, err := sqlstore.OpenDB(db, nil)
		must.Do(t, err)
		defer s.Close()
		must.Do(t, s.Pin(store.Root))
		must.Do(t, s.Update(context.Background(), func(tx store.Tx) error { return tx.SetXattr(store.Root, "user.a", []byte("a")) }))
		rx, err := s.Begin(context.Background())
		must.Do(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(20*time.Millisecond, cancel)
		if _, err := s.Begin(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("a second reader: %v", err)
		}
		rx.End()
		rx, err = s.Begin(context.Background())
		must.Do(t, err)
		rx.End()
		must.Do(t, s.Close())
		if n := db.Stats().OpenConnections; n != 0 {
			t.Errorf("%d connections are left", n)
		}
	})
}

// TestNoLog writes to a volume without a log while a reader has a transaction open. The reader
// keeps the volume from getting a log, and a commit from ending.
func TestNoLog(t *testing.T) {
	eachDriver(t, func(t *testing.T, d *suite.Driver) {
		path := filepath.Join(t.TempDir(), "test.folio")
		must.Do(t, folio.Create(context.Background(), path, nil, func(b *folio.Builder) error {
			return b.AddBytes(&folio.Header{Name: "old", Mode: 0o644}, []byte("old"))
		}))
		reading, s := d.Open(t, path, &sqlstore.Options{ReadOnly: true}), d.Open(t, path, &sqlstore.Options{BusyTimeout: -1})
		rx, err := reading.Begin(context.Background())
		must.Do(t, err)
		add := func(tx store.Tx) error {
			_, err := storetest.AddFile(tx, "new", nil)
			return err
		}
		if err := s.Update(context.Background(), add); !errors.Is(err, store.ErrBusy) {
			t.Errorf("%v, want ErrBusy", err)
		}
		rx.End()
		must.Do(t, s.Update(context.Background(), add))
		must.Do(t, s.Sync(context.Background()))
		rx, err = reading.Begin(context.Background())
		must.Do(t, err)
		defer rx.End()
		var l store.Listing
		if err := rx.List(store.Root, "", 0, &l); err != nil || len(l.Items) != 2 {
			t.Errorf("%d entries, %v", len(l.Items), err)
		}
	})
}

// TestPinBusy pins an inode while another connection has the side database for itself: other Stores
// must learn of the pin that is taken then.
func TestPinBusy(t *testing.T) {
	eachDriver(t, func(t *testing.T, d *suite.Driver) {
		path := filepath.Join(t.TempDir(), "test.folio")
		s := d.Open(t, path, &sqlstore.Options{Create: true, BusyTimeout: -1})
		var n store.Node
		must.Do(t, s.Update(context.Background(), func(tx store.Tx) (err error) {
			n, err = storetest.AddFile(tx, "file", nil)
			return err
		}))
		end := exclusive(t, d, path+"-hold")
		if err := s.Pin(n.Ino); !errors.Is(err, store.ErrBusy) {
			t.Errorf("%v, want ErrBusy", err)
		}
		end()
		must.Do(t, s.Pin(n.Ino))
		other := d.Open(t, path, nil)
		must.Do(t, other.Update(context.Background(), func(tx store.Tx) error { return storetest.RemoveFile(tx, "file") }))
		must.Do(t, other.Close())
		if !storetest.Exists(t, s, n.Ino) {
			t.Error("a file is gone that is held")
		}
		s.Unpin(n.Ino)
		if storetest.Exists(t, s, n.Ino) {
			t.Error("a file is left that no process holds")
		}
	})
}

// exclusive locks a database until end is called.
func exclusive(t *testing.T, d *suite.Driver, path string) (end func()) {
	t.Helper()
	db, err := sql.Open(d.Name, path)
	must.Do(t, err)
	t.Cleanup(func() { _ = db.Close() })
	c, err := db.Conn(context.Background())
	must.Do(t, err)
	_, err = c.ExecContext(context.Background(), "BEGIN EXCLUSIVE")
	must.Do(t, err)
	return func() { must.Do(t, c.Close()); must.Do(t, db.Close()) }
}
