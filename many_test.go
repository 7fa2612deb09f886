package folio_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
)

// TestManyOpen has a hundred volumes open at once and writes to all of them, also where addresses
// have 32 bits.
func TestManyOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var vols []*folio.Volume
	for i := range 100 {
		vol, err := folio.Open(filepath.Join(dir, fmt.Sprintf("%d.folio", i)), &folio.Options{Create: true})
		if err != nil {
			t.Fatalf("volume %d: %v", i, err)
		}
		defer vol.Close()
		vols = append(vols, vol)
		must.Do(t, vol.WriteFile("a", []byte{byte(i)}, 0o644))
	}
	content := make([]byte, 100_000)
	for i, vol := range vols {
		content[0] = byte(i)
		must.Do(t, vol.WriteFile("b", content, 0o644))
	}
	for i, vol := range vols {
		for _, name := range []string{"a", "b"} {
			if p, err := vol.ReadFile(name); err != nil || p[0] != byte(i) {
				t.Errorf("volume %d, %s: %d bytes, %v", i, name, len(p), err)
			}
		}
	}
}
