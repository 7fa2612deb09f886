package volumetest

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/random"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

var tamperRounds = flag.Int("tamper", 40, "how many volumes TestTampered changes at random")

// TestTampered changes rows of a volume at random, as a program could by SQL, and then uses it.
// Nothing may panic, go on for ever, or show an impossible name. Repair must lose nothing and must
// leave nothing that it could repair. Afterwards everything must be there to be removed.
func TestTampered(t *testing.T) {
	t.Parallel()
	r := random.New(t)
	whole := tamperBase(t, r)
	rounds := *tamperRounds
	if testing.Short() { // one goroutine does all this
		rounds = min(rounds, 10)
	}
	for round := range rounds {
		name := filepath.Join(t.TempDir(), "tampered.folio")
		must.Do(t, os.WriteFile(name, whole, 0o600))
		changes := tamper(t, r, name)
		v, err := folio.Open(name, nil)
		if err != nil {
			t.Fatalf("round %d: %v: %v", round, changes, err)
		}
		names := useTampered(t, v)
		if round%2 == 0 {
			names = repairTampered(t, v, name)
		}
		mergeTampered(t, v, names)
		writeTampered(r, v, names)
		removeTampered(t, v, round%2 == 0)
		must.Do(t, v.Compact(t.Context(), nil))
		must.Do(t, v.Backup(t.Context(), io.Discard))
		must.Do(t, v.Close())
		if list, err := os.ReadDir(filepath.Dir(name)); err != nil || len(list) != 1 {
			t.Errorf("round %d: %v, %v", round, list, err)
		}
		if t.Failed() {
			t.Fatalf("round %d: %v", round, changes)
		}
	}
}

// tamperBase returns a volume with a bit of everything.
func tamperBase(t *testing.T, r *rand.Rand) []byte {
	t.Helper()
	v := Create(t, AddAll(Samples...))
	for i := range 30 {
		name := fmt.Sprintf("a/b/%d", i)
		must.Do(t, v.WriteFile(name, make([]byte, r.IntN(3)*r.IntN(100_000)), 0o644))
		must.Do(t, v.SetXattr(name, "user.i", []byte(name)))
		if i%5 == 0 {
			must.Do(t, v.Link(name, fmt.Sprintf("a/link%d", i)))
			must.Do(t, v.MkdirAll(fmt.Sprintf("deep/%d/x/y/z", i), 0o755))
		}
	}
	var whole bytes.Buffer
	must.Do(t, v.Backup(t.Context(), &whole))
	return whole.Bytes()
}

// tamper makes some random changes to a volume's rows, and describes them.
func tamper(t *testing.T, r *rand.Rand, name string) (changes []string) {
	t.Helper()
	db, err := sqlitefile.Open(name, nil)
	must.Do(t, err)
	must.Do(t, db.Update(t.Context(), func(tx *sqlitefile.Tx) error {
		for range 1 + r.IntN(6) {
			change, err := tamperRow(r, tx, []string{"node", "node", "entry", "entry", "entry", "data", "xattr", "orphan"}[r.IntN(8)])
			if err != nil {
				return err
			}
			changes = append(changes, change)
		}
		return nil
	}))
	must.Do(t, db.Close())
	return changes
}

// tamperRow changes, copies or deletes one row.
func tamperRow(r *rand.Rand, tx *sqlitefile.Tx, name string) (string, error) {
	table, err := tx.Table(name)
	if err != nil {
		return "", err
	}
	if name == "orphan" {
		n := oddNumber(r)
		return fmt.Sprint("orphan ", n), table.Put(n, n)
	}
	rows, err := tableRows(table.Table)
	if err != nil || len(rows) == 0 {
		return "", err
	}
	row := rows[r.IntN(len(rows))]
	keys := map[string]int{"node": 1, "entry": 2, "data": 1, "xattr": 2}[name]
	next := slices.Clone(row)
	if i := r.IntN(len(next)); r.IntN(8) > 0 {
		next[i] = oddValue(r, next[i])
	} else {
		next = nil
	}
	change := fmt.Sprintf("%s %s -> %s", name, brief(row), brief(next))
	if next == nil || r.IntN(3) > 0 {
		if keys == 1 {
			_, err = table.Delete(row[0].(int64))
		} else {
			_, err = table.DeleteKey(row[:keys]...)
		}
	}
	if next != nil && err == nil && keys == 1 {
		err = table.Put(next[0].(int64), next...)
	} else if next != nil && err == nil {
		err = table.PutKey(next...)
	}
	return change, err
}

// brief is a row on a line that is not too long.
func brief(row []any) string { return fmt.Sprintf("%.100s", fmt.Sprintf("%v", row)) }

// tableRows returns all rows of a table.
func tableRows(table sqlitefile.Table) (rows [][]any, err error) {
	values := make([]sqlitefile.Value, len(table.Columns()))
	for row, err := range table.All() {
		if err != nil {
			return nil, err
		}
		if err := row.Values(values); err != nil {
			return nil, err
		}
		list := make([]any, len(values))
		for i, v := range values {
			list[i] = v.Any()
		}
		rows = append(rows, list)
	}
	return rows, nil
}

// oddNumber returns a number at the edge of a range.
func oddNumber(r *rand.Rand) int64 {
	odd := []int64{
		-1, 0, 1, 2, 3, 1e9, 1 << 16, 1<<16 - 1, 1<<16 + 1, 1 << 31, 1<<32 - 1, 1<<35 - 1, 1 << 35, 1 << 44, 1<<44 + 1, 1 << 62, math.MinInt64,
		math.MaxInt64, store.ModeDir | 0o755, store.ModeSymlink, store.ModeRegular | 0o644, store.ModeFifo, store.DataID(3, 0), store.DataID(1, 1<<20),
	}
	if r.IntN(2) == 0 {
		return int64(1 + r.IntN(60)) // an inode
	}
	return odd[r.IntN(len(odd))]
}

// oddValue returns another value of the same kind.
func oddValue(r *rand.Rand, v any) any {
	switch v := v.(type) {
	case int64:
		if r.IntN(3) == 0 {
			return v + int64(r.IntN(5)) - 2
		}
		return oddNumber(r)
	case string:
		odd := []string{"", ".", "..", "a/b", "../../x", "/etc/passwd", "x\x00y", "\xff\xfe", strings.Repeat("n", 766), "0", "a", "b", v + "x"}
		return odd[r.IntN(len(odd))]
	case []byte:
		if r.IntN(2) == 0 {
			return v[:r.IntN(len(v)+1)]
		}
		return make([]byte, []int{1, 100, 1 << 16, 1<<16 + 1, 200_000}[r.IntN(5)])
	}
	return v
}

// useTampered reads all that can be reached, and returns its names.
func useTampered(t *testing.T, v *folio.Volume) (names []string) {
	t.Helper()
	_ = fs.WalkDir(v.FS(), ".", func(name string, _ fs.DirEntry, err error) error {
		for elem := range strings.SplitSeq(name, "/") {
			if name != "." && !store.ValidName(elem) {
				t.Errorf("%q is listed", name)
			}
		}
		if len(names) == 300 || strings.Count(name, "/") > 40 { // a loop
			return fs.SkipAll
		}
		names = append(names, name)
		useAll(v, name)
		if err != nil {
			return fs.SkipDir
		}
		return nil
	})
	if _, err := v.Check(t.Context(), nil); err != nil {
		t.Errorf("Check: %v", err)
	}
	return names
}

// repairTampered repairs a volume, checks that nothing is lost, and returns the names that there
// are now.
func repairTampered(t *testing.T, v *folio.Volume, name string) []string {
	t.Helper()
	before := storedRows(t, name)
	report, err := v.Repair(t.Context())
	must.Do(t, err)
	if !maps.Equal(storedRows(t, name), before) {
		t.Errorf("contents have changed: %+v", report.Repairs)
	}
	again, err := v.Repair(t.Context())
	must.Do(t, err)
	if len(again.Repairs) > 0 || len(again.Problems) != len(report.Problems) {
		t.Errorf("a second time: %+v", again)
	}
	for _, p := range report.Problems {
		if !slices.ContainsFunc([]string{"size is", "chunk", "content", "symbolic link", "extended attribute", "out of range"}, func(s string) bool {
			return strings.Contains(p.What, s)
		}) {
			t.Errorf("not repaired: %+v", p)
		}
	}
	return useTampered(t, v)
}

// storedRows returns the rows of the tables of contents and attributes.
func storedRows(t *testing.T, name string) map[string]string {
	t.Helper()
	db, err := sqlitefile.Open(name, nil)
	must.Do(t, err)
	defer db.Close()
	all := make(map[string]string)
	must.Do(t, db.View(t.Context(), func(rx *sqlitefile.Rx) error {
		for _, name := range []string{"data", "xattr"} {
			table, err := rx.Table(name)
			must.Do(t, err)
			rows, err := tableRows(table)
			must.Do(t, err)
			for _, row := range rows {
				if p, ok := row[len(row)-1].([]byte); ok && len(p) == 0 && name == "data" {
					continue // no content, and not a row to keep
				}
				all[fmt.Sprint(name, row[:len(row)-1])] = fmt.Sprint(row[len(row)-1])
			}
		}
		return nil
	}))
	return all
}

// mergeTampered merges a volume into another one, and another tree over it.
func mergeTampered(t *testing.T, v *folio.Volume, names []string) {
	t.Helper()
	other := Empty(t)
	for _, name := range names {
		if info, err := v.Lstat(name); err == nil && info.Size() > 1<<30 { // a hole, which would be read to its end
			_ = v.RemoveAll(name)
		}
	}
	if err := other.Merge(t.Context(), v.FS(), "copy", nil); err != nil {
		WantNone(t, other, "copy")
	}
	src := fstest.MapFS{"a/b/1": {Data: []byte("new")}, "a/b/c.txt": {}, "deep/0/x/f": {}, "lost+found/x": {}}
	for _, p := range []folio.MergePolicy{folio.MergeKeep, folio.MergeNewer, folio.MergeChanged, folio.MergeReplace} {
		_ = v.Merge(t.Context(), src, ".", &folio.MergeOptions{Policy: p})
	}
	WantClean(t, other)
}

// writeTampered changes files at random. It need not succeed.
func writeTampered(r *rand.Rand, v *folio.Volume, names []string) {
	some := func() string { return names[r.IntN(len(names))] }
	for range 40 {
		name := some()
		_ = []func() error{
			func() error { return v.WriteFile(name, make([]byte, r.IntN(100_000)), 0o644) },
			func() error { return v.Mkdir(path.Join(name, "new"), 0o755) },
			func() error { return v.WriteFile(path.Join(name, "new"), nil, 0o644) },
			func() error { return v.Rename(name, some()) },
			func() error { return v.Rename(name, path.Join(some(), "moved")) },
			func() error { return v.Link(name, path.Join(some(), "link")) },
			func() error { return v.Chmod(name, 0o700) },
			func() error { return v.Remove(name) },
			func() error { return v.SetXattr(name, "user.x", []byte("x")) },
			func() error { return writeThrough(r, v, name) },
		}[r.IntN(10)]()
	}
	_, _ = v.Check(context.Background(), nil)
}

// writeThrough writes to an open file, here and there.
func writeThrough(r *rand.Rand, v *folio.Volume, name string) error {
	f, err := v.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	_, _ = f.WriteAt([]byte("x"), int64(r.IntN(1<<30)))
	_ = f.Truncate(int64(r.IntN(1 << 20)))
	_, _ = f.Seek(0, io.SeekEnd)
	_, _ = f.Write(make([]byte, r.IntN(100_000)))
	_ = f.Truncate(int64(r.IntN(100)))
	return f.Close()
}

// removeTampered removes everything, which must succeed in a volume that was repaired.
func removeTampered(t *testing.T, v *folio.Volume, repaired bool) {
	t.Helper()
	list, err := v.ReadDir(".")
	for _, e := range list {
		err = errors.Join(err, v.RemoveAll(e.Name()))
	}
	if repaired && err != nil {
		t.Errorf("RemoveAll: %v", err)
	}
	if left, err := v.ReadDir("."); repaired && len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
