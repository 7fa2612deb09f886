package runner

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

// A contender with a chosen version requires its own libraries only, and none of the other
// contenders in its module.
func TestPinnedRequirements(t *testing.T) {
	t.Parallel()
	contenders, err := filepath.Abs("../contender")
	if err != nil {
		t.Fatal(err)
	}
	const workload = "github.com/foliofs/folio/lab/workload"
	for _, tt := range []struct {
		name, library string
		required      []string
	}{
		{"modernc", "modernc.org/sqlite", []string{workload, "modernc.org/sqlite"}},
		{"ncruces", "github.com/ncruces/go-sqlite3", []string{workload, "github.com/ncruces/go-sqlite3"}},
		{"crawshaw", "crawshaw.io/sqlite", []string{workload, "crawshaw.io/sqlite"}},
		{"tailscale", "github.com/tailscale/sqlite", []string{workload}},
		{"gorm", "github.com/glebarez/go-sqlite", []string{workload, "github.com/glebarez/go-sqlite", "github.com/glebarez/sqlite", "gorm.io/gorm"}},
		{"files", "", []string{workload}},
	} {
		library, required := requirements(t, contenders, tt.name)
		slices.Sort(required)
		slices.Sort(tt.required)
		if library != tt.library || !slices.Equal(required, tt.required) {
			t.Errorf("%s: library %q, requires %s", tt.name, library, strings.Join(required, ", "))
		}
	}
}

// requirements returns the library of a contender, and the modules that it requires when its
// version is chosen.
func requirements(t *testing.T, contenders, name string) (library string, required []string) {
	t.Helper()
	dir, ok := contenderDir(contenders, name)
	if !ok {
		t.Fatalf("%s: no directory", name)
	}
	root, err := moduleRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	imports, err := importsOf(dir, root, mod.Module.Mod.Path)
	if err != nil {
		t.Fatal(err)
	}
	library = requireOnly(mod, imports)
	for _, r := range mod.Require {
		required = append(required, r.Mod.Path)
	}
	return library, required
}
