package runner

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A contender with a chosen version requires its own libraries only, and none of the other
// contenders in its module.
func TestPinnedRequirements(t *testing.T) {
	t.Parallel()
	contenders, err := filepath.Abs("../contender")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, library string
		required      []string
	}{
		{"modernc", "modernc.org/sqlite", []string{"modernc.org/sqlite"}},
		{"ncruces", "github.com/ncruces/go-sqlite3", []string{"github.com/ncruces/go-sqlite3"}},
		{"crawshaw", "crawshaw.io/sqlite", []string{"crawshaw.io/sqlite"}},
		{"tailscale", "github.com/tailscale/sqlite", nil},
		{"gorm", "github.com/glebarez/go-sqlite", []string{"github.com/glebarez/go-sqlite", "github.com/glebarez/sqlite", "gorm.io/gorm"}},
		{"zombiezen", "zombiezen.com/go/sqlite", []string{"zombiezen.com/go/sqlite"}},
		{"files", "", nil},
	} {
		mod, library, err := requirements(t.Context(), mains(contenders)[tt.name])
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		var required []string
		for _, r := range mod.Require {
			required = append(required, r.Mod.Path)
		}
		slices.Sort(required)
		slices.Sort(tt.required)
		if library != tt.library || !slices.Equal(required, tt.required) {
			t.Errorf("%s: library %q, requires %s", tt.name, library, strings.Join(required, ", "))
		}
	}
}
