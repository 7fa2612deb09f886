package queries

import (
	"context"
	"database/sql/driver"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/sqlite"
)

var (
	databases = flag.Int("queries.databases", 15, "random databases")
	perDB     = flag.Int("queries.each-database", 100, "random queries of each")
	keep      = flag.String("queries.keep", "", "a directory for the statements of wrong answers")
	seed      = flag.Uint64("queries.seed", 1, "of the first random database")
)

// TestRandom asks random queries, and compares the answers with those of C SQLite: the values and
// their types, whether it is an error, and the order if ORDER BY decides it. Values that are equal
// but not the same, such as 1 and 1.0, count as equal where a query is free to choose one.
func TestRandom(t *testing.T) {
	if !judge.Available {
		t.Skip("needs cgo")
	}
	refused := make(map[string]int)
	run, failed, quirks, wrong, ordered, inOrder, ties, slow := 0, 0, 0, 0, 0, 0, 0, 0
	for n := range *databases {
		s := *seed + uint64(n)
		g := &generator{Rand: rand.New(rand.NewPCG(s, 7))}
		file := filepath.Join(t.TempDir(), "random.db")
		theirs, err := judge.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		var made []string
		for _, sql := range append([]string{"PRAGMA synchronous=OFF", "PRAGMA journal_mode=MEMORY"}, g.schema()...) {
			if err := theirs.Exec(sql); err == nil {
				made = append(made, sql)
			} else if strings.HasPrefix(sql, "CREATE VIEW") {
				t.Logf("%v", err)
			}
		}
		var o sqlite.Options
		if s%2 == 1 {
			o.SortMemory = 1 // each sort, and each group but the first, goes to a file
		}
		ours, err := sqlite.Open(file, &o)
		if err != nil {
			t.Fatal(err)
		}
		for range *perDB {
			g.depth = 0
			sql := g.query(nil, 1+g.IntN(3), false)
			run++
			got, err := ask(ours, sql)
			want, wantErr := askC(theirs, sql)
			var e *sqlite.Error
			if errors.As(err, &e) && strings.HasPrefix(e.Message, "not supported yet") {
				refused[e.Message]++
				continue
			}
			if wantErr != nil && (strings.Contains(wantErr.Error(), "interrupted") || errors.Is(wantErr, context.DeadlineExceeded)) {
				slow++
				continue
			}
			if wantErr != nil {
				failed++
				if err == nil && own(wantErr) {
					quirks++
					continue
				}
			}
			exact := slices.Equal(got, want)
			if err == nil && wantErr == nil && !g.ordered {
				ordered++
				if exact {
					inOrder++
				}
				slices.Sort(got)
				slices.Sort(want)
				exact = slices.Equal(got, want)
			}
			if (err != nil) == (wantErr != nil) && (exact || err != nil) {
				continue
			}
			// Of rows that ORDER BY, DISTINCT, GROUP BY or a compound take for equal, the query is
			// free to take any one first.
			if err == nil && wantErr == nil && free(sql) {
				got, want := alike(got), alike(want)
				if !g.ordered {
					slices.Sort(got)
					slices.Sort(want)
				}
				if slices.Equal(got, want) {
					ties++
					continue
				}
			}
			if errors.As(err, &e) && e.Code == sqlite.CodeInterrupt {
				slow++
				continue
			}
			if err == nil && wantErr == nil && strings.Contains(sql, " IN (SELECT") {
				want, _ := withoutDescending(theirs, made, sql)
				slices.Sort(got)
				if slices.Sort(want); slices.Equal(got, want) {
					quirks++
					continue
				}
			}
			wrong++
			at := 0
			for at < len(got) && at < len(want) && got[at] == want[at] {
				at++
			}
			t.Errorf("seed %d: %s\n  ours: %d rows, from %d %.400q, %v\n  C:    %d rows, from %d %.400q, %v",
				s, sql, len(got), at, got[at:], err, len(want), at, want[at:], wantErr)
			if *keep != "" {
				os.WriteFile(fmt.Sprintf("%s/%d-%d.sql", *keep, s, wrong), []byte(strings.Join(made, ";\n")+";\n"+sql+";\n"), 0o644)
			}
			if wrong > 15 {
				t.FailNow()
			}
		}
		ours.Close()
		theirs.Close()
	}
	t.Logf("%d queries, %d of them errors, %d that C SQLite alone refuses or answers wrongly, %d too slow, %d with another one of equal values, %d wrong; of %d without ORDER BY %d in the same order", run, failed, quirks, slow, ties, wrong, ordered, inOrder)
	for why, n := range refused {
		t.Logf("%6d %s", n, why)
	}
}

// free reports whether a query can be free to choose between equal values.
func free(sql string) bool {
	for _, word := range []string{"ORDER BY", "DISTINCT", "GROUP BY", "UNION", "EXCEPT", "INTERSECT"} {
		if strings.Contains(sql, word) {
			return true
		}
	}
	return false
}

// alike returns rows with the same text for values that are equal by some collation.
func alike(rows []string) []string {
	out := make([]string, len(rows))
	for i, row := range rows {
		out[i] = real.ReplaceAllStringFunc(row, func(s string) string {
			bits, _ := strconv.ParseUint(s[1:len(s)-1], 16, 64)
			if f := math.Float64frombits(bits); f == math.Trunc(f) && math.Abs(f) < 1<<62 {
				return fmt.Sprintf("%d|", int64(f))
			}
			return s
		})
		out[i] = strings.ToLower(strings.ReplaceAll(out[i], ` "|`, `"|`))
	}
	return out
}

var real = regexp.MustCompile(`\br[0-9a-f]+\|`)

// own reports whether an error is one that C SQLite makes of some valid queries. It resolves the
// names of some subqueries and compounds with GROUP BY twice, and finds them no more. All columns
// that the generator names exist.
func own(err error) bool {
	return strings.Contains(err.Error(), "no such column: ") || strings.Contains(err.Error(), "HAVING clause on a non-aggregate query")
}

// withoutDescending returns the answer of C SQLite without descending indexes. If it takes one for
// the set of NOT IN it does not see a NULL in it.
func withoutDescending(c *judge.Conn, made []string, sql string) ([]string, error) {
	if err := c.Exec("BEGIN"); err != nil {
		return nil, err
	}
	defer c.Exec("ROLLBACK")
	for _, s := range made {
		if name, on, ok := strings.Cut(strings.TrimPrefix(s, "CREATE INDEX "), " ON "); ok && strings.Contains(on, " DESC") {
			if err := c.Exec("DROP INDEX " + name); err != nil {
				return nil, err
			}
		}
	}
	return askC(c, sql)
}

// ask returns the rows of a query as texts that show types and bits.
func ask(db *sqlite.DB, sql string) (rows []string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	for row, err := range db.Query(ctx, sql) {
		if err != nil {
			return rows, err
		}
		var b strings.Builder
		for i := range row.Len() {
			b.WriteString(shown(row.Value(i).Any()) + "|")
		}
		rows = append(rows, b.String())
	}
	return rows, nil
}

func askC(c *judge.Conn, sql string) (rows []string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for row, err := range c.Rows(ctx, sql) {
		if err != nil {
			return rows, err
		}
		var b strings.Builder
		for _, v := range row {
			b.WriteString(shown(v) + "|")
		}
		rows = append(rows, b.String())
	}
	return rows, nil
}

func shown(v driver.Value) string {
	switch v := v.(type) {
	case float64:
		return fmt.Sprintf("r%x", math.Float64bits(v))
	case string:
		return fmt.Sprintf("t%q", v)
	case []byte:
		return fmt.Sprintf("b%x", v)
	}
	return fmt.Sprint(v)
}
