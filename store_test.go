package folio_test

import (
	"path/filepath"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/store/native"
)

// TestOpenStore opens a store that somebody else made.
func TestOpenStore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.folio")
	v, err := folio.Open(path, &folio.Options{Create: true})
	must(t, err)
	must(t, v.WriteFile("file", []byte("content"), 0o644))
	must(t, v.Close())
	s, err := native.Open(path, nil)
	must(t, err)
	v, err = folio.OpenStore(s, &folio.Options{CacheSize: -1})
	must(t, err)
	if p, err := v.ReadFile("file"); err != nil || string(p) != "content" {
		t.Errorf("%q, %v", p, err)
	}
	must(t, v.Close())
	if err := s.Close(); err == nil {
		t.Error("the store is open after Close")
	}
}
