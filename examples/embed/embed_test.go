package embed_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio"
)

// TestGenerated checks that the volume holds what the directory does: run go generate otherwise.
func TestGenerated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.folio")
	if err := os.WriteFile(path, site, 0o400); err != nil {
		t.Fatal(err)
	}
	vol, err := folio.Open(path, &folio.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer vol.Close()
	list := func(tree fs.FS) []byte {
		var all bytes.Buffer
		err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				var text []byte
				text, err = fs.ReadFile(tree, name)
				all.WriteString(name + "\n" + string(text))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return all.Bytes()
	}
	if got, want := list(vol.FS()), list(os.DirFS("site")); !bytes.Equal(got, want) {
		t.Errorf("site.folio holds\n%swant\n%s", got, want)
	}
}
