package dav_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio"
)

// newVolume makes an empty volume, which must be whole at the end of the test.
func newVolume(t testing.TB) *folio.Volume {
	t.Helper()
	vol, err := folio.Open(filepath.Join(t.TempDir(), "test.folio"), &folio.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		report, err := vol.Check(context.Background(), nil)
		if err != nil || !report.OK() {
			t.Errorf("Check: %v, %v", report, err)
		}
		if err := vol.Close(); err != nil {
			t.Error(err)
		}
	})
	return vol
}
