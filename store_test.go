package folio_test

import (
	"path/filepath"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store/native"
)

// TestOpenStore opens a store that the caller has made.
func TestOpenStore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.folio")
	v, err := folio.Open(path, &folio.Options{Create: true})
	must.Do(t, err)
	must.Do(t, v.WriteFile("file", []byte("content"), 0o644))
	must.Do(t, v.Close())
	s, err := native.Open(path, nil)
	must.Do(t, err)
	v, err = folio.OpenStore(private.Key{}, s, &folio.Options{CacheSize: -1})
	must.Do(t, err)
	if p, err := v.ReadFile("file"); err != nil || string(p) != "content" {
		t.Errorf("%q, %v", p, err)
	}
	must.Do(t, v.Close())
	if err := s.Close(); err == nil {
		t.Error("the store is open after Close")
	}
}
