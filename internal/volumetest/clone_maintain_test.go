package volumetest

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/roottest"
)

// TestCloneMaintained compacts, backs up, repairs and imports a volume with clones.
func TestCloneMaintained(t *testing.T) {
	t.Parallel()
	v := Empty(t)
	must.Do(t, errors.Join(edgeFiles(v, false), edgeWrite(v, "c", 65_000, 10), v.CreateSnapshot(t.Context(), "s"), edgeWrite(v, "f", 10, 10)))
	want := PlainText(t, v, false)
	must.Do(t, v.Compact(t.Context(), nil))
	report, err := v.Repair(t.Context())
	if err != nil || len(report.Repairs) > 0 {
		t.Errorf("%v, %v", report, err)
	}
	dir := t.TempDir()
	backup, imported := filepath.Join(dir, "backup.folio"), filepath.Join(dir, "import.folio")
	must.Do(t, v.BackupFile(t.Context(), backup, nil))
	must.Do(t, folio.ImportFS(t.Context(), imported, v.FS(), nil))
	merged := Empty(t)
	must.Do(t, merged.Merge(t.Context(), v.FS(), ".", nil))
	for name, of := range map[string]*folio.Volume{"compact": v, "backup": Open(t, backup), "import": Open(t, imported), "merge": merged} {
		if name == "merge" { // the root has other attributes
			WantFile(t, of, "d", ReadAll(t, v, "d"))
		} else if got := PlainText(t, of, false); got != want {
			t.Errorf("%s: %s", name, roottest.Difference(got, want))
		}
		WantClean(t, of)
	}
	other, err := folio.Open(backup, nil)
	must.Do(t, err)
	must.Do(t, edgeWrite(other, "f", 140_000, 10))
	at, err := other.OpenSnapshot(t.Context(), "s")
	must.Do(t, err)
	WantFile(t, other, "d", ReadAll(t, at, "d"))
	must.Do(t, errors.Join(at.Close(), other.Close()))
}

// TestCloneOverlay clones nothing in an overlay, and reads clones in its base.
func TestCloneOverlay(t *testing.T) {
	t.Parallel()
	base := Memory(t, nil)
	must.Do(t, edgeFiles(base, false))
	over, err := folio.NewOverlay(base.FS(), Memory(t, nil), nil)
	must.Do(t, err)
	defer over.Close()
	if err := over.Clone("f", "x"); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
	WantNone(t, over, "x")
	if err := over.CloneFile("f", "x"); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
	WantNone(t, over, "x")
	must.Do(t, edgeWrite(over, "d", 65_530, 20))
	got := ReadAll(t, over.Volume(private.Key{}), "d")
	if got[:65_530] != ReadAll(t, base, "d")[:65_530] || got[65_530] != 'W' {
		t.Error("another content")
	}
}
