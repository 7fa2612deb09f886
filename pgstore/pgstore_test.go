//go:build unix

package pgstore_test

import (
	"errors"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
	"github.com/foliofs/folio/pgstore"
)

func TestMain(m *testing.M) { pgserver.Main(m) }

// TestDoor opens a volume by the public package, and asks about its objects.
func TestDoor(t *testing.T) {
	address := pgserver.Volume(t)
	if _, err := pgstore.Open(t.Context(), address, nil); !errors.Is(err, folio.ErrNotVolume) {
		t.Errorf("a volume that is not there: %v", err)
	}
	vol, err := pgstore.Open(t.Context(), address, &pgstore.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer vol.Close()
	if err := vol.WriteFile("file", []byte("content"), 0o644); err != nil {
		t.Error(err)
	}
	if p, err := vol.ReadFile("file"); err != nil || string(p) != "content" {
		t.Errorf("%q, %v", p, err)
	}
	if info, err := pgstore.Objects(t.Context(), vol); err != nil || info != (pgstore.ObjectInfo{}) {
		t.Errorf("objects without a bucket: %+v, %v", info, err)
	}
	if report, err := pgstore.GC(t.Context(), vol, nil); err != nil || *report != (pgstore.GCReport{}) {
		t.Errorf("objects without a bucket: %+v, %v", report, err)
	}
}

// TestInFile wants an error for a volume that is not on a server.
func TestInFile(t *testing.T) {
	vol, err := folio.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer vol.Close()
	if _, err := pgstore.Objects(t.Context(), vol); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Objects: %v", err)
	}
	if _, err := pgstore.GC(t.Context(), vol, nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("GC: %v", err)
	}
}
