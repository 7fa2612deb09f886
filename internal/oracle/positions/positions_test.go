package positions

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/internal/oracle/ours"
	"github.com/foliofs/folio/sqlitefile"
)

var (
	programs = flag.Int("positions.programs", 2000, "random programs to compare")
	seed     = flag.Uint64("positions.seed", 1, "of the first schema")
	verbose  = flag.Bool("positions.verbose", false, "show the programs that differ")
)

// each is how many programs run on one schema. The last one is committed.
const each = 40

// TestPositions runs random programs that change the rows which they iterate over, in ours and in C
// SQLite, whose loops are SELECT statements over the same b-trees. The rows that the loops meet are
// the same, and so are the tables and indexes afterwards.
func TestPositions(t *testing.T) {
	if !judge.Available {
		t.Skip("no C SQLite in this build")
	}
	left, differ, met := *programs, 0, 0
	for n := *seed; left > 0; n++ {
		p := newPair(t, n)
		for i := range min(each, left) {
			rows, err := p.run(i == min(each, left)-1)
			if met += rows; err != nil {
				if differ++; differ <= 10 {
					t.Errorf("schema %d, program %d: %v", n, i, err)
				}
			}
		}
		left -= each
		p.close()
	}
	t.Logf("%d programs, which met %d rows: %d differ", *programs, met, differ)
}

// A pair is the same database twice.
type pair struct {
	maker
	t    *testing.T
	path string
	db   *sqlitefile.DB
	conn *judge.Conn
}

// newPair makes a random database with some rows.
func newPair(t *testing.T, n uint64) *pair {
	t.Helper()
	r := rand.New(rand.NewPCG(n, 7))
	p := &pair{maker: maker{Rand: r}, t: t, path: filepath.Join(t.TempDir(), "db")}
	parent := randomTable(r, "t", nil)
	p.tables = []*table{parent, randomTable(r, "u", parent)}
	p.must(p.open(r))
	for i, tab := range p.tables {
		for _, sql := range tab.create {
			p.must(p.conn.Exec(sql))
			p.must(p.db.Exec(t.Context(), sql))
		}
		for range r.IntN(80) {
			p.insert(i, r.Int64N(60)*10)
		}
		p.wantPlans(tab)
	}
	return p
}

func (p *pair) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// open opens the two databases.
func (p *pair) open(r *rand.Rand) (err error) {
	size := choose(r, 512, 1024)
	if p.conn, err = judge.Open(":memory:"); err != nil {
		return err
	}
	if err := p.conn.Exec(fmt.Sprintf("PRAGMA page_size = %d; PRAGMA foreign_keys = ON", size)); err != nil {
		return err
	}
	o := &sqlitefile.Options{Create: true, PageSize: size, Durability: sqlitefile.DurabilityOff, NoMmap: r.IntN(2) == 0, ForeignKeys: true}
	if r.IntN(2) == 0 {
		o.JournalMode = sqlitefile.JournalWAL
	}
	p.db, err = sqlitefile.Open(p.path, o)
	return err
}

func (p *pair) close() {
	p.db.Close()
	p.conn.Close()
}

// insert adds a row to both, unless both refuse it.
func (p *pair) insert(i int, id int64) {
	v := randomRow(p.Rand, p.tables[i], id)
	their := (&theirs{Conn: p.conn, tables: p.tables}).insert(i, v)
	our := p.db.Update(p.t.Context(), func(tx *sqlitefile.Tx) error {
		return (&ourTx{tx: tx, tables: p.tables}).insert(i, v)
	})
	if (their == errRefused) != (our == errRefused) || (their == nil) != (our == nil) {
		p.t.Fatalf("insert %.200v: %v, and C %v", v, our, their)
	}
}

// wantPlans wants C to iterate over the b-trees themselves.
func (p *pair) wantPlans(t *table) {
	for i := range t.trees {
		x := &t.trees[i]
		for _, back := range []bool{false, true} {
			query := t.query(x, "", back)
			plan, err := p.plan(query)
			p.must(err)
			if strings.Contains(plan, "TEMP") || strings.Contains(plan, "INDEX") != (x.index != "") {
				p.t.Fatalf("%s: %s", query, plan)
			}
		}
	}
}

func (p *pair) plan(query string) (plan string, err error) {
	for row, err := range p.conn.Rows(context.Background(), "EXPLAIN QUERY PLAN "+query) {
		if err != nil {
			return "", err
		}
		plan += fmt.Sprint(row[3]) + "\n"
	}
	return plan, nil
}

// run runs a program in both, and returns how many rows its loops met.
func (p *pair) run(commit bool) (met int, err error) {
	prog := p.program()
	their := &run{engine: &theirs{Conn: p.conn, tables: p.tables}, budget: 150}
	p.must(p.conn.Exec("BEGIN"))
	if err := their.do(prog, 0); err != nil {
		return 0, fmt.Errorf("C: %w\n%v", err, prog)
	}
	tx, err := p.db.BeginUpdate(p.t.Context())
	p.must(err)
	defer tx.Rollback()
	us := &ourTx{tx: tx, tables: p.tables}
	our := &run{engine: us, budget: 150}
	err = our.do(prog, 0)
	if err == nil && !slices.Equal(our.trace, their.trace) {
		err = fmt.Errorf("the loops met\n%v, C\n%v", our.trace, their.trace)
	}
	if err == nil {
		err = p.compare(us)
	}
	if err != nil && *verbose {
		err = fmt.Errorf("%w\n%v\n%v", err, prog, append(p.tables[0].create, p.tables[1].create...))
	}
	if !commit {
		p.must(p.conn.Exec("ROLLBACK"))
		return 150 - our.budget, err
	}
	p.must(p.conn.Exec("COMMIT"))
	p.must(tx.Commit())
	p.wantSound()
	return 150 - our.budget, err
}

// compare compares all tables and indexes.
func (p *pair) compare(us *ourTx) error {
	for i, t := range p.tables {
		columns := []string{"id", "d", "a", "b", "c"}
		if t.child {
			columns = append(columns, "p")
		}
		from := strings.TrimPrefix(t.query(&t.trees[0], "", false), "SELECT id, d FROM ")
		var their, our [][]judge.Value
		for v, err := range p.conn.Select(context.Background(), columns, from) {
			if err != nil {
				return err
			}
			their = append(their, slices.Clone(v))
		}
		table, err := us.tx.Rx.Table(t.name)
		if err != nil {
			return err
		}
		for row, err := range table.All() {
			if err != nil {
				return err
			}
			v, err := ours.AppendRow(nil, &row, func(int) bool { return true })
			if err != nil {
				return err
			}
			our = append(our, v)
		}
		if !slices.EqualFunc(our, their, func(a, b []judge.Value) bool { return slices.EqualFunc(a, b, judge.Value.Equal) }) {
			return fmt.Errorf("table %s differs", t.name)
		}
		for j := range t.trees {
			if err := p.compareTree(us, &step{table: i, tree: j, back: j%2 == 0}); err != nil {
				return err
			}
		}
	}
	return nil
}

// compareTree compares the rows of a tree.
func (p *pair) compareTree(us *ourTx, s *step) error {
	var lists [2][]int64
	for i, e := range []engine{us, &theirs{Conn: p.conn, tables: p.tables}} {
		err := e.rows(s, func(id int64) error { lists[i] = append(lists[i], id); return nil })
		if err != nil {
			return err
		}
	}
	if !slices.Equal(lists[0], lists[1]) {
		return fmt.Errorf("tree %d of table %d: %v, C %v", s.tree, s.table, lists[0], lists[1])
	}
	return nil
}

// wantSound lets C check the database of ours.
func (p *pair) wantSound() {
	c, err := judge.Open("file:" + p.path + "?mode=ro")
	p.must(err)
	defer c.Close()
	list, err := c.Strings(context.Background(), "PRAGMA integrity_check")
	if err != nil || !slices.Equal(list, []string{"ok"}) {
		p.t.Errorf("%v, %v", list, err)
	}
}
