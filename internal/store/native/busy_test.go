package native

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

// TestBusy writes while another connection does.
func TestBusy(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.folio")
	build(t, path, 0, small())
	one, err := Open(path, nil)
	must.Do(t, err)
	defer one.Close()
	other, err := Open(path, &Options{BusyTimeout: -1})
	must.Do(t, err)
	defer other.Close()
	must.Do(t, one.Update(context.Background(), func(store.Tx) error {
		err := other.Update(context.Background(), func(store.Tx) error { return nil })
		if !errors.Is(err, store.ErrBusy) || !errors.Is(err, sqlitefile.ErrBusy) {
			t.Errorf("%v, want ErrBusy of both packages", err)
		}
		return nil
	}))
}

// TestBusyFirst writes to a volume in rollback mode for the first time, which is then to get a log,
// while a reader stays: it waits once, not for the log and again for the transaction. Time is that
// of synctest.
func TestBusyFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.folio")
	build(t, path, 0, small())
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(path, nil)
		must.Do(t, err)
		defer s.Close()
		reader, err := osfile.Open(path, os.O_RDWR, 0)
		must.Do(t, err)
		defer reader.Close()
		must.Do(t, reader.Lock(osfile.Shared, 0x40000002, 510))
		start := time.Now()
		err = s.Update(context.Background(), func(tx store.Tx) error {
			n := store.Node{Mode: store.ModeRegular | 0o644, Nlink: 1}
			return tx.Insert(&n)
		})
		if took := time.Since(start); !errors.Is(err, store.ErrBusy) || took != 5*time.Second {
			t.Errorf("%v after %v, want ErrBusy after 5s", err, took)
		}
	})
}
