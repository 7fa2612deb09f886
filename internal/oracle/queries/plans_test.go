package queries

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/sqlite"
)

// plansEqual is how many of the plans of TestPlans, in 1,000, must be those of C SQLite. It must
// only become larger.
const plansEqual = 494

// TestPlans compares the rows of EXPLAIN QUERY PLAN of random queries with those of C SQLite. Their
// numbers differ, which are addresses in a program there.
func TestPlans(t *testing.T) {
	t.Parallel()
	if !judge.Available {
		t.Skip("needs cgo")
	}
	p := newPlanTally()
	for n := range *databases {
		g := &generator{Rand: rand.New(rand.NewPCG(*seed+uint64(n), 11))}
		file := filepath.Join(t.TempDir(), "plans.db")
		theirs, err := judge.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, sql := range append([]string{"PRAGMA synchronous=OFF", "PRAGMA journal_mode=MEMORY"}, g.schema()...) {
			_ = theirs.Exec(sql)
		}
		ours, err := sqlite.Open(file, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range *perDB {
			g.depth = 0
			p.compare(ours, theirs, g.query(nil, 1+g.IntN(3), false))
		}
		ours.Close()
		theirs.Close()
	}
	p.report(t)
	if p.all > 0 && p.equal*1000/p.all < plansEqual {
		t.Errorf("%d of %d plans equal, want %d of 1000", p.equal, p.all, plansEqual)
	}
}

// A planTally counts plans that are equal, and the first lines that are not.
type planTally struct {
	mu         sync.Mutex
	all, equal int
	others     map[string]int
	sample     map[string]string
}

func newPlanTally() *planTally {
	return &planTally{others: make(map[string]int), sample: make(map[string]string)}
}

func (p *planTally) compare(ours *sqlite.DB, theirs *judge.Conn, sql string) {
	want, err := planOfC(theirs, sql)
	if err != nil {
		return
	}
	got, err := planOf(ours, sql)
	if err != nil { // refused
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all++
	if slices.Equal(got, want) {
		p.equal++
		return
	}
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	line := func(list []string) string {
		if i == len(list) {
			return "nothing"
		}
		return digits.Replace(strings.TrimLeft(list[i], " "))
	}
	kind := line(want) + " / " + line(got)
	p.others[kind]++
	p.sample[kind] = fmt.Sprintf("%s\n  C:    %s\n  ours: %s", sql, strings.Join(want, "\n        "), strings.Join(got, "\n        "))
}

// digits makes the lines of different tables alike.
var digits = strings.NewReplacer("0", "#", "1", "#", "2", "#", "3", "#", "4", "#", "5", "#", "6", "#", "7", "#", "8", "#", "9", "#")

func (p *planTally) report(t *testing.T) {
	t.Logf("%d of %d plans are equal", p.equal, p.all)
	for _, kind := range slices.SortedFunc(maps.Keys(p.others), func(a, b string) int { return p.others[b] - p.others[a] })[:min(25, len(p.others))] {
		t.Logf("%6d C: %s\n%s", p.others[kind], kind, p.sample[kind])
	}
}

// planOf returns the lines of a plan, indented.
func planOf(db *sqlite.DB, sql string) (lines []string, err error) {
	depth := make(map[int64]int)
	for row, err := range db.Query(context.Background(), "EXPLAIN QUERY PLAN "+sql) {
		if err != nil {
			return nil, err
		}
		lines = append(lines, indented(depth, row.Int64(0), row.Int64(1), row.Text(3)))
	}
	return lines, nil
}

func planOfC(c *judge.Conn, sql string) (lines []string, err error) {
	depth := make(map[int64]int)
	for row, err := range c.Rows(context.Background(), "EXPLAIN QUERY PLAN "+sql) {
		if err != nil {
			return nil, err
		}
		lines = append(lines, indented(depth, row[0].(int64), row[1].(int64), row[3].(string)))
	}
	return lines, nil
}

func indented(depth map[int64]int, id, parent int64, detail string) string {
	depth[id] = depth[parent] + 1
	return strings.Repeat(" ", depth[parent]) + detail
}
