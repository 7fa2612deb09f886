package queries

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/sqlite"
)

var properties = flag.Int("queries.properties", 10, "random conditions of each database that TestProperties looks at")

// TestProperties looks at answers of our own only. A condition divides the rows of a join into
// those for which it is true, false and NULL, which together are all rows (ternary logic
// partitioning). As many rows are returned where it is a condition, and may use an index, as where
// it is a result that is true, and may not (non-optimizing reference).
func TestProperties(t *testing.T) {
	t.Parallel()
	if !judge.Available {
		t.Skip("needs cgo")
	}
	run, refused := 0, 0
	for n := range *databases {
		s := *seed + uint64(n)
		g := &generator{Rand: rand.New(rand.NewPCG(s, 13))}
		file := filepath.Join(t.TempDir(), "properties.db")
		theirs, err := judge.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, sql := range append([]string{"PRAGMA synchronous=OFF", "PRAGMA journal_mode=MEMORY"}, g.schema()...) {
			_ = theirs.Exec(sql)
		}
		theirs.Close()
		db, err := sqlite.Open(file, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range *properties {
			g.depth = 1
			from, columns := g.from(nil)
			condition := g.condition(columns, 1+g.IntN(2))
			switch why, err := property(db, from, strings.Join(columns, ", "), condition); {
			case err != nil: // one that is refused, too slow, or an error of SQL
				refused++
			case why != "":
				t.Errorf("seed %d: FROM %s WHERE %s: %s", s, from, condition, why)
			default:
				run++
			}
		}
		db.Close()
	}
	t.Logf("%d conditions, %d more refused, too slow or in error", run, refused)
}

// property says why the properties do not hold, or returns an error of one of the queries.
func property(db *sqlite.DB, from, columns, condition string) (why string, failed error) {
	rows := func(format string, args ...any) []string {
		if failed != nil {
			return nil
		}
		list, err := ask(db, fmt.Sprintf(format, args...))
		failed = err
		return list
	}
	all := rows("SELECT %s FROM %s", columns, from)
	isTrue := rows("SELECT %s FROM %s WHERE %s", columns, from, condition)
	isFalse := rows("SELECT %s FROM %s WHERE NOT (%s)", columns, from, condition)
	isNull := rows("SELECT %s FROM %s WHERE (%s) IS NULL", columns, from, condition)
	results := rows("SELECT (%s) IS TRUE FROM %s", condition, from)
	if failed != nil {
		return "", failed
	}
	parts := slices.Concat(isTrue, isFalse, isNull)
	slices.Sort(all)
	slices.Sort(parts)
	if !slices.Equal(all, parts) {
		return fmt.Sprintf("%d rows, but %d are true, %d false, %d NULL", len(all), len(isTrue), len(isFalse), len(isNull)), nil
	}
	n := 0
	for _, r := range results {
		if r == "1|" {
			n++
		}
	}
	if n != len(isTrue) {
		return fmt.Sprintf("%d rows, but true for %d", len(isTrue), n), nil
	}
	return "", nil
}
