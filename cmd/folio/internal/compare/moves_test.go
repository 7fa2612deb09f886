package compare

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/location"
)

// TestMoves compares a volume with what became of a copy of it, as if they were one volume at two
// moments.
func TestMoves(t *testing.T) {
	t.Parallel()
	was := filepath.Join(t.TempDir(), "was.folio")
	update(t, was, func(tx *folio.Tx) error {
		return errors.Join(tx.MkdirAll("dir/sub", 0o755), tx.MkdirAll("other", 0o755), tx.WriteFile("dir/sub/same", []byte("1"), 0o644),
			tx.WriteFile("dir/changed", []byte("2"), 0o644), tx.WriteFile("dir/gone", nil, 0o644), tx.WriteFile("dir/out", nil, 0o644),
			tx.WriteFile("file", []byte("3"), 0o644), tx.WriteFile("replaced", []byte("4"), 0o644), tx.WriteFile("stays", []byte("5"), 0o644))
	})
	is := filepath.Join(t.TempDir(), "is.folio")
	content, err := os.ReadFile(was)
	if err = errors.Join(err, os.WriteFile(is, content, 0o600)); err != nil {
		t.Fatal(err)
	}
	update(t, is, func(tx *folio.Tx) error {
		return errors.Join(tx.Rename("dir/out", "other/out"), tx.Rename("dir", "new"), tx.WriteFile("new/changed", []byte("two"), 0o644),
			tx.Chmod("new/changed", 0o600), tx.Remove("new/gone"), tx.WriteFile("new/sub/added", nil, 0o644),
			tx.Rename("file", "replaced"))
	})
	const want = `D dir/gone
D file
R dir new
RMP with its directory dir/changed new/changed
R with its directory dir/sub new/sub
A new/sub/added
R with its directory dir/sub/same new/sub/same
R dir/out other/out
M replaced
`
	if got := strings.Join(changes(t, was, is), ""); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func update(t *testing.T, volume string, fn func(tx *folio.Tx) error) {
	t.Helper()
	v, err := folio.Open(volume, &folio.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(v.Update(t.Context(), fn), v.Close()); err != nil {
		t.Fatal(err)
	}
}

// changes compares two files as two moments of one volume.
func changes(t *testing.T, was, is string) (lines []string) {
	t.Helper()
	o := &Options{
		Attributes: Mode,
		Report: func(c *Change) error {
			line := c.Kind.Letters()
			if c.WithDir {
				line += " with its directory"
			}
			if c.Kind&Moved != 0 {
				line += " " + c.Old.Name
			}
			lines = append(lines, line+" "+c.Path+"\n")
			return nil
		},
		Trouble: func(err error) { t.Error(err) },
		Seen:    func(int, int64) {},
	}
	err := location.Root(was).View(t.Context(), func(a *folio.Rx) error {
		return location.Root(is).View(t.Context(), func(b *folio.Rx) error {
			return Run(t.Context(), &volumeTree{was, location.Root(was), a, Origin{"v", "1"}},
				&volumeTree{is, location.Root(is), b, Origin{"v", "2"}}, o)
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}
