package serve_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/foliofs/folio"
)

// tree returns a line for each file of a volume, apart from those of the server itself.
func tree(t testing.TB, vol *folio.Volume) string {
	t.Helper()
	var b strings.Builder
	check(t, fs.WalkDir(vol.FS(), "site", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == ".folio-serve" {
			return fs.SkipDir
		}
		text := ""
		if d.Type().IsRegular() {
			data, err := vol.ReadFile(name)
			check(t, err)
			text = string(data[:min(len(data), 40)])
		}
		_, err = fmt.Fprintf(&b, "%q %v %q\n", name, d.Type(), text)
		return err
	}))
	return b.String()
}
