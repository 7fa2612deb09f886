package volumetest

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/race"
)

// TestRepairHistory damages the histories of volumes by SQL, and repairs them. The live files stay,
// the volume can be written, and its snapshots can be read and removed.
func TestRepairHistory(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	t.Parallel()
	for change, want := range map[string]string{ // by the statement, the names of the snapshots afterwards
		"UPDATE snapshot SET name = 'a@b' WHERE name = 'second'":                               "first repaired-2 third",
		"UPDATE snapshot SET name = x'ff' WHERE name = 'second'":                               "first repaired-2 third",
		"UPDATE snapshot SET name = 'repaired-2' WHERE id = 1":                                 "repaired-2 second third",
		"UPDATE snapshot SET name = CASE id WHEN 2 THEN '' ELSE 'repaired-2' END WHERE id > 1": "first repaired-2- repaired-2",
		"UPDATE snapshot SET time_ns = 'then'":                                                 "first second third",
		"UPDATE snapshot SET next = 0 WHERE id = 2":                                            "first second third",
		"UPDATE snapshot SET next = 'x'":                                                       "first second third",
		"UPDATE snapshot SET next = 2 WHERE id = 3":                                            "first second third",
		"UPDATE snapshot SET next = 99999 WHERE id = 1":                                        "first second third",
		"INSERT INTO snapshot VALUES (-5, 'x', 1, 2)":                                          "first second third",
		"DELETE FROM snapshot":                                                                 "",
		"DELETE FROM snapshot WHERE id = 3":                                                    "first second",
		"DROP TABLE snapshot":                                                                  "",
		"DROP TABLE block":                                                                     "first second third",
		"DROP TABLE xattr_was":                                                                 "first second third",
		"DROP TABLE node_was; DROP TABLE data_was; DROP TABLE entry_was":                       "first second third",
		"DROP TRIGGER node_was_update; DROP TRIGGER data_was_delete":                           "first second third",
		"DROP VIEW change; DROP VIEW file_at":                                                  "first second third",
		"UPDATE node_was SET until = until + 77":                                               "first second third",
		"UPDATE data_was SET until = until + 77":                                               "first second third",
		"UPDATE entry_was SET until = -until":                                                  "first second third",
		"UPDATE entry_was SET until = 'x' || until":                                            "first second third",
		"UPDATE entry_was SET ino = -7":                                                        "first second third",
		"UPDATE entry_was SET name = 'a/b' WHERE name = 'gone'":                                "first second third",
		"INSERT INTO data_was VALUES ('text', 1, 0), (x'00', 'u', 1.5)":                        "first second third",
		"INSERT INTO xattr_was VALUES (3, x'00', 1, NULL), (-1, 'a', 2, x'')":                  "first second third",
	} {
		v := Empty(t)
		ctx := t.Context()
		large := strings.Repeat("first", 40_000)
		must.Do(t, v.MkdirAll("d/e", 0o755))
		must.Do(t, v.WriteFile("d/f", []byte(large), 0o644))
		must.Do(t, v.WriteFile("d/gone", []byte("gone"), 0o644))
		must.Do(t, v.SetXattr("d/f", "user.x", []byte("first")))
		for _, name := range []string{"first", "second", "third"} {
			must.Do(t, v.CreateSnapshot(ctx, name))
			must.Do(t, v.WriteFile("d/f", []byte(name+large), 0o644))
			must.Do(t, v.WriteFile("d/young"+name, nil, 0o644))
			must.Do(t, v.SetXattr("d/f", "user.x", []byte(name)))
			if name == "first" {
				must.Do(t, v.Remove("d/gone"))
			}
		}
		was := takeCopy(t, v)
		info, err := v.Info(ctx)
		must.Do(t, err)
		must.Do(t, v.Close())
		sqlite(t, info.Path, change)
		v = Open(t, info.Path)
		report, err := v.Repair(ctx)
		if err != nil {
			t.Errorf("%s: %v", change, err)
			continue
		}
		if len(report.Repairs) == 0 && !strings.Contains(change, "'repaired-2' WHERE id = 1") {
			t.Errorf("%s: nothing was repaired", change)
		}
		if again, err := v.Repair(ctx); err != nil || len(again.Repairs) > 0 {
			t.Errorf("%s: again: %v, %v", change, again, err)
		}
		now := takeCopy(t, v)
		for name, f := range was {
			if got := now[name]; got.alike(true) != f.alike(true) {
				t.Errorf("%s: %s is another one", change, name)
			}
		}
		list, err := v.Snapshots(ctx)
		must.Do(t, err)
		names := ""
		for _, s := range list {
			names += " " + s.Name
			at, err := v.OpenSnapshot(ctx, s.Name)
			must.Do(t, err)
			err = fs.WalkDir(at.FS(), ".", func(_ string, _ fs.DirEntry, err error) error { return err })
			if err = errors.Join(err, at.Close()); err != nil {
				t.Errorf("%s: %s: %v", change, s.Name, err)
			}
		}
		if strings.TrimSpace(names) != want {
			t.Errorf("%s: there are%s, want %s", change, names, want)
		}
		must.Do(t, v.WriteFile("d/f", []byte("later"), 0o644))
		must.Do(t, v.CreateSnapshot(ctx, "later"))
		must.Do(t, v.RemoveAll("d"))
		at, err := v.OpenSnapshot(ctx, "later")
		must.Do(t, err)
		if p, err := at.ReadFile("d/f"); string(p) != "later" {
			t.Errorf("%s: %q, %v", change, p, err)
		}
		must.Do(t, at.Close())
		list, err = v.Snapshots(ctx)
		must.Do(t, errors.Join(err, v.RemoveSnapshots(ctx, list...)))
		WantClean(t, v)
		if left := sqlite(t, info.Path, "SELECT count(*) FROM sqlite_schema WHERE name LIKE '%was%' OR name IN ('snapshot', 'block', 'change', 'file_at')"); left != "0" {
			t.Errorf("%s: %s objects are left", change, left)
		}
	}
}
