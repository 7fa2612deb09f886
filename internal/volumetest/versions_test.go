package volumetest

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
)

// versions returns the versions of a file as text: path, size, snapshots, and a star for the
// current one.
func versions(t *testing.T, v *folio.Volume, name string) string {
	t.Helper()
	list, err := v.Versions(t.Context(), name)
	must.Do(t, err)
	var b strings.Builder
	for _, f := range list {
		fmt.Fprintf(&b, "%s=%d", f.Path, f.Info.Size())
		for _, s := range f.Snapshots {
			fmt.Fprintf(&b, " %s", s.Name)
		}
		if f.Current {
			b.WriteString(" *")
		}
		b.WriteString("; ")
	}
	return b.String()
}

func TestVersions(t *testing.T) {
	t.Parallel()
	v := Empty(t)
	snapshots := 0
	snapshot := func() {
		snapshots++
		must.Do(t, v.CreateSnapshot(t.Context(), fmt.Sprint("s", snapshots)))
	}
	write := func(name string, size int) { must.Do(t, v.WriteFile(name, make([]byte, size), 0o644)) }
	want := func(name, want string) {
		t.Helper()
		if got := versions(t, v, name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	must.Do(t, v.Mkdir("d", 0o755))
	must.Do(t, v.Symlink("d", "l"))
	snapshot() // s1: not there
	write("d/f", 1)
	want("d/f", "d/f=1 *; ")
	snapshot()
	snapshot()
	want("l/f", "d/f=1 s2 s3 *; ")
	write("d/f", 2)
	want("d/f", "d/f=2 *; d/f=1 s2 s3; ")
	snapshot() // s4
	must.Do(t, v.Rename("d/f", "d/g"))
	snapshot() // s5: only moved
	want("d/g", "d/g=2 s4 s5 *; d/f=1 s2 s3; ")
	must.Do(t, v.Rename("d", "e"))
	write("e/g", 3)
	want("e/g", "e/g=3 *; d/g=2 s4 s5; d/f=1 s2 s3; ")
	// An editor puts a new file in its place.
	write("e/new", 4)
	must.Do(t, v.Rename("e/new", "e/g"))
	snapshot() // s6
	want("e/g", "e/g=4 s6 *; ")
	write("e/newer", 5)
	must.Do(t, v.Rename("e/newer", "e/g"))
	want("e/g", "e/g=5 *; e/g=4 s6; ")
	must.Do(t, v.Remove("e/g"))
	snapshot() // s7: gone
	want("e/g", "e/g=4 s6; ")
	want("d/g", "d/g=2 s4 s5; d/f=1 s2 s3; ")
	_, err := v.Restore(t.Context(), "s6", "e/g", nil)
	must.Do(t, err)
	want("e/g", "e/g=4 *; e/g=4 s6; ") // apart, as s7 does not have it
	must.Do(t, v.Chtimes("e/g", time.Time{}, time.Unix(5, 0)))
	snapshot() // s8
	must.Do(t, v.Chmod("e/g", 0o600))
	want("e/g", "e/g=4 *; e/g=4 s8; e/g=4 s6; ")

	for name, target := range map[string]error{
		"none": fs.ErrNotExist, "e": folio.ErrIsDirectory, ".": folio.ErrIsDirectory, "../x": folio.ErrEscapes, "e/g/x": fs.ErrNotExist,
	} {
		if _, err := v.Versions(t.Context(), name); !errors.Is(err, target) {
			t.Errorf("%s: %v, want %v", name, err, target)
		}
	}
	at, err := v.OpenSnapshot(t.Context(), "s4")
	must.Do(t, err)
	defer at.Close()
	if _, err := at.Versions(t.Context(), "d/f"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("of a snapshot: %v", err)
	}
}
