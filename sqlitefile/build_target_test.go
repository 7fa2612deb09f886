package sqlitefile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio/sqlitefile"
)

// TestIsTemporary checks that the file that Build writes to has a name that IsTemporary knows.
func TestIsTemporary(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	err := sqlitefile.Build(t.Context(), filepath.Join(dir, "new.db"), nil, func(*sqlitefile.Builder) error {
		list, err := os.ReadDir(dir)
		if err != nil || len(list) != 1 || !sqlitefile.IsTemporary(list[0].Name()) {
			t.Errorf("%v, %v, want one temporary file", list, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "new.db", "new.db-wal", ".folio-build-", "x.tmp"} {
		if sqlitefile.IsTemporary(name) {
			t.Errorf("%q is no name of a temporary file", name)
		}
	}
}
