package dav_test

import (
	"net/http/httptest"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/adapter/dav"
	"github.com/foliofs/folio/adapter/internal/volumes"
	"github.com/foliofs/folio/internal/litmus"
)

// TestLitmus runs litmus against a volume.
func TestLitmus(t *testing.T) {
	t.Parallel()
	runLitmus(t, volumes.New)
}

func runLitmus(t *testing.T, volume func(t testing.TB) *folio.Volume) {
	server := httptest.NewServer(dav.NewHandler(volume(t), nil))
	defer server.Close()
	litmus.Run(t, server.URL+"/")
}
