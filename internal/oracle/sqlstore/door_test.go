package sqlstore_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/sqlstore"
)

// TestDoor opens volumes by the public package, in each way.
func TestDoor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.folio")
	if _, err := sqlstore.Open(drivers[0].Name, path, nil); !errors.Is(err, folio.ErrNotVolume) {
		t.Errorf("a volume that is not there: %v", err)
	}
	vol, err := sqlstore.Open(drivers[0].Name, path, &sqlstore.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(vol.WriteFile("file", []byte("content"), 0o644), vol.Close()); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open(drivers[0].Name, path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	vol, err = sqlstore.OpenDB(db, &sqlstore.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer vol.Close()
	if p, err := vol.ReadFile("file"); err != nil || string(p) != "content" {
		t.Errorf("%q, %v", p, err)
	}
	if err := vol.WriteFile("file", nil, 0o644); !errors.Is(err, folio.ErrReadOnly) {
		t.Errorf("a volume that is open for reading: %v", err)
	}
}
