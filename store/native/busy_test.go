package native

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio/sqlitefile"
	"github.com/foliofs/folio/store"
)

// TestBusy writes while another connection does.
func TestBusy(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.folio")
	build(t, path, 0, small())
	one, err := Open(path, nil)
	must(t, err)
	defer one.Close()
	other, err := Open(path, &Options{BusyTimeout: -1})
	must(t, err)
	defer other.Close()
	must(t, one.Update(context.Background(), func(store.Tx) error {
		err := other.Update(context.Background(), func(store.Tx) error { return nil })
		if !errors.Is(err, store.ErrBusy) || !errors.Is(err, sqlitefile.ErrBusy) {
			t.Errorf("%v, want ErrBusy of both packages", err)
		}
		return nil
	}))
}
