package sqlitefile

import (
	"fmt"
	"testing"
)

// TestBuildSpills builds an index from many runs.
func TestBuildSpills(t *testing.T) {
	t.Parallel()
	const n = 30_000
	path := build(t, &BuildOptions{SortMemory: 200_000}, []string{
		"CREATE TABLE t(a INT, b TEXT UNIQUE, c INT)", "CREATE INDEX ta ON t(a DESC, b COLLATE NOCASE)", "CREATE INDEX tc ON t(c)",
	}, func(b *Builder) error {
		table := mustTable(b, "t")
		for i := range n {
			if err := table.Append(int64(i), i%17, fmt.Sprintf("%x", uint32(i)*2654435761), i); err != nil {
				return err
			}
		}
		return nil
	})
	checkShell(t, path, "PRAGMA integrity_check; SELECT count(*) FROM t WHERE a = 3", "ok\n1765")
}

// TestBuildUniqueAcrossRuns finds a duplicate whose rows were spilled in different runs, and lets
// NULLs be.
func TestBuildUniqueAcrossRuns(t *testing.T) {
	t.Parallel()
	for _, last := range []any{5, 6, nil} {
		err := Build(t.Context(), t.TempDir()+"/x.db", &BuildOptions{SortMemory: 200_000}, func(b *Builder) error { return fillDuplicates(b, last) })
		if want := "UNIQUE constraint failed: t.a, t.b"; last == 5 && (err == nil || err.(interface{ Unwrap() error }).Unwrap().Error() != want) {
			t.Errorf("got %v, want %s", err, want)
		}
		if last != 5 && err != nil {
			t.Error(err)
		}
	}
}

func fillDuplicates(b *Builder, last any) error {
	if err := b.Create("CREATE TABLE t(a TEXT COLLATE NOCASE, b, UNIQUE(a, b))"); err != nil {
		return err
	}
	table := mustTable(b, "t")
	for i := range 20_000 {
		if err := table.Append(int64(2*i), fmt.Sprintf("%x", uint32(i)*2654435761), 5); err != nil {
			return err
		}
		if err := table.Append(int64(2*i+1), "same", nil); err != nil {
			return err
		}
	}
	return table.Append(1<<50, "3C6EF362", last)
}
