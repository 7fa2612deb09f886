package folio_test

import (
	"path/filepath"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store/native"
	"github.com/foliofs/folio/internal/volumetest"
)

// TestOpenStore opens a store that the caller has made.
func TestOpenStore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.folio")
	v, err := folio.Open(path, &folio.Options{Create: true})
	volumetest.Must(t, err)
	volumetest.Must(t, v.WriteFile("file", []byte("content"), 0o644))
	volumetest.Must(t, v.Close())
	s, err := native.Open(path, nil)
	volumetest.Must(t, err)
	v, err = folio.OpenStore(private.Key{}, s, &folio.Options{CacheSize: -1})
	volumetest.Must(t, err)
	if p, err := v.ReadFile("file"); err != nil || string(p) != "content" {
		t.Errorf("%q, %v", p, err)
	}
	volumetest.Must(t, v.Close())
	if err := s.Close(); err == nil {
		t.Error("the store is open after Close")
	}
}
