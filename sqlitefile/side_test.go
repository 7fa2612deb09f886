package sqlitefile

import (
	"testing"

	"github.com/foliofs/folio/internal/osfile"
)

// handleOf opens a database by itself, and makes it if there is none, until the test ends.
func handleOf(t *testing.T, path string) osfile.Handle {
	t.Helper()
	f, err := osfile.OS.Open(path, osfile.ReadWrite|osfile.Create, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}
