package volumetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/random"
	"github.com/foliofs/folio/internal/roottest"
)

// TestChangeView compares view change, in the sqlite3 shell, with Diff of each two states that
// follow each other.
func TestChangeView(t *testing.T) {
	if testing.Short() { // one goroutine does all this
		t.Skip("in one goroutine")
	}
	t.Parallel()
	r := random.New(t)
	v := Empty(t)
	for i := range 40 {
		for range r.IntN(40) {
			randomChange(r, v)
		}
		must.Do(t, v.CreateSnapshot(t.Context(), fmt.Sprint("s", i)))
		if list, err := v.Snapshots(t.Context()); r.IntN(3) == 0 && err == nil && len(list) > 3 {
			must.Do(t, v.RemoveSnapshots(t.Context(), list[r.IntN(len(list))]))
		}
		if i%4 > 0 {
			continue
		}
		for range r.IntN(20) {
			randomChange(r, v)
		}
		info, err := v.Info(t.Context())
		must.Do(t, err)
		out := sqlite(t, info.Path, `SELECT since || '|' || coalesce(until, '') || '|' || hex(CAST(path AS BLOB)) || '|' || change || '|' || ino || '|' || coalesce(content, '') FROM change`)
		got := strings.Split(strings.TrimSpace(out), "\n")
		slices.Sort(got)
		if want := successive(t, v); !slices.Equal(got, want) {
			t.Fatalf("after %d snapshots: %s", i, roottest.Difference(strings.Join(got, "\n"), strings.Join(want, "\n")))
		}
	}
}

// successive returns what Diff says of each two states that follow each other, as lines.
func successive(t *testing.T, v *folio.Volume) []string {
	t.Helper()
	list, err := v.Snapshots(t.Context())
	must.Do(t, err)
	lines := make(map[string]bool)
	for i, s := range list {
		until := ""
		if i+1 < len(list) {
			until = list[i+1].Name
		}
		add := func(path, change string, ino uint64, content string) {
			lines[fmt.Sprintf("%s|%s|%X|%s|%d|%s", s.Name, until, path, change, ino, content)] = true
		}
		for c, err := range v.Diff(t.Context(), s.Name, until) {
			must.Do(t, err)
			switch {
			case c.Kind&folio.ChangeMoved != 0:
				add(c.OldPath, "removed", c.Ino, "")
				add(c.Path, "made", c.Ino, "")
			case c.Kind == folio.ChangeMade:
				add(c.Path, "made", c.Ino, "")
			case c.Kind == folio.ChangeRemoved:
				add(c.Path, "removed", c.Ino, "")
			default:
				add(c.Path, "changed", c.Ino, fmt.Sprint(uint8(c.Kind&folio.ChangeContent>>3)))
			}
		}
	}
	if len(lines) == 0 {
		return []string{""}
	}
	return slices.Sorted(maps.Keys(lines))
}

// TestChangeViewAdded has snapshots of a Folio that did not make view change. The next snapshot
// adds it, and so does Repair. A table of the user with that name stays.
func TestChangeViewAdded(t *testing.T) {
	t.Parallel()
	for _, own := range []bool{false, true} {
		for what, add := range map[string]func(v *folio.Volume) error{
			"snapshot": func(v *folio.Volume) error { return v.CreateSnapshot(t.Context(), "t") },
			"repair":   func(v *folio.Volume) error { return must.Second(v.Repair(t.Context())) },
		} {
			v := Empty(t)
			must.Do(t, v.CreateSnapshot(t.Context(), "s"))
			must.Do(t, v.WriteFile("f", nil, 0o644))
			info, err := v.Info(t.Context())
			must.Do(t, err)
			sqlite(t, info.Path, "DROP VIEW change")
			want := "f"
			if own {
				sqlite(t, info.Path, "CREATE TABLE Change (path TEXT)")
				want = ""
			}
			must.Do(t, add(v))
			if got := sqlite(t, info.Path, "SELECT path FROM change"); got != want {
				t.Errorf("%s: %q, want %q", what, got, want)
			}
			WantClean(t, v)
			list, err := v.Snapshots(t.Context())
			must.Do(t, errors.Join(err, v.RemoveSnapshots(t.Context(), list...)))
			left := sqlite(t, info.Path, "SELECT count(*) FROM sqlite_schema WHERE type <> 'index' AND name COLLATE BINARY IN ('file_at', 'change', 'snapshot')")
			if left != "0" {
				t.Errorf("%s: %s objects are left", what, left)
			}
		}
	}
}
