package store_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/store"
)

var update = flag.Bool("update", false, "write the schema of the Python package")

// The Python package makes the same volumes.
func TestPythonSchema(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "python", "src", "folio_fs", "schema.sql")
	want := fmt.Sprintf("PRAGMA application_id = %d;\nPRAGMA user_version = %d;\n%s;\n", store.ApplicationID, store.SchemaVersion, strings.Join(store.Schema, ";\n"))
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not store.Schema: go test ./store -update", path)
	}
}
