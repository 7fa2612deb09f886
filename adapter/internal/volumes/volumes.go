// Package volumes makes empty volumes for the tests of the adapters, in files and on a server of
// PostgreSQL.
package volumes

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio"
)

// New makes an empty volume in a file, which must be whole at the end of the test.
func New(t testing.TB) *folio.Volume {
	t.Helper()
	vol, err := folio.Open(filepath.Join(t.TempDir(), "test.folio"), &folio.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { end(t, vol) })
	return vol
}

// end closes a volume, which must be whole.
func end(t testing.TB, vol *folio.Volume) {
	report, err := vol.Check(context.Background(), nil)
	if err != nil || !report.OK() {
		t.Errorf("Check: %v, %v", report, err)
	}
	if err := vol.Close(); err != nil {
		t.Error(err)
	}
}
