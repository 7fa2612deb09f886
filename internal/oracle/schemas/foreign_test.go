package schemas

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/sqlitefile"
)

var foreignRows = flag.Int("schemas.foreign", 5_000, "changes of rows with foreign keys to compare")

// foreignSchema makes tables that refer to each other in random ways. Of the foreign keys of a
// schema all are deferred, or none: a statement that breaks one at once leaves SQLite's count of
// the deferred ones it has broken too high, and COMMIT fails for no row.
func (g *generator) foreignSchema() []string {
	deferred := g.pick("", "", " DEFERRABLE INITIALLY DEFERRED")
	action := func() string {
		s := ""
		for _, event := range []string{"DELETE", "UPDATE"} {
			if g.IntN(4) > 0 {
				s += " ON " + event + " " + g.pick("CASCADE", "SET NULL", "SET DEFAULT", "RESTRICT", "NO ACTION")
			}
		}
		return s + deferred
	}
	sql := []string{
		"CREATE TABLE p(id INTEGER PRIMARY KEY, k TEXT UNIQUE" + g.pick("", " COLLATE NOCASE") + ", a, b, UNIQUE(a, b))",
		fmt.Sprintf("CREATE TABLE c(id INTEGER PRIMARY KEY, p INTEGER DEFAULT 3 REFERENCES p%s, k %s REFERENCES p(k)%s, a DEFAULT 1, b DEFAULT 2, self REFERENCES c%s, FOREIGN KEY(b, a) REFERENCES p(b, a)%s)",
			action(), g.pick("TEXT", "TEXT COLLATE NOCASE", ""), action(), action(), action()),
		fmt.Sprintf("CREATE TABLE w(id TEXT PRIMARY KEY, c INT %s REFERENCES c(id)%s, up TEXT REFERENCES w%s) WITHOUT ROWID", g.pick("", "NOT NULL"), action(), action()),
	}
	for _, index := range []string{"CREATE INDEX cp ON c(p)", "CREATE INDEX ck ON c(k)", "CREATE INDEX cba ON c(b, a)", "CREATE INDEX wc ON w(c)"} {
		if g.IntN(2) == 0 {
			sql = append(sql, index)
		}
	}
	return sql
}

// TestForeignKeys compares with PRAGMA foreign_keys = ON.
func TestForeignKeys(t *testing.T) {
	t.Parallel()
	newJudge(t)
	g := &generator{Rand: rand.New(rand.NewPCG(*seed, 3))}
	changes, accepted := 0, 0
	for n := 0; changes < *foreignRows && !t.Failed(); n++ {
		p := newForeign(t, g, n)
		for range 10 {
			changes += p.foreignTransaction(10)
		}
		p.compareForeign()
		accepted += p.done
		p.close()
	}
	t.Logf("%d changes, %d accepted by both", changes, accepted)
}

func newForeign(t *testing.T, g *generator, n int) *pair {
	t.Helper()
	return newPairOf(t, g, n, g.foreignSchema())
}

// newPairOf returns databases of a schema, in which foreign keys are enforced.
func newPairOf(t *testing.T, g *generator, n int, script []string) *pair {
	t.Helper()
	dir := filepath.Join(t.TempDir(), fmt.Sprint(n))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	p := &pair{generator: g, t: t, path: filepath.Join(dir, "ours.db"), script: script}
	var err error
	if p.judge, err = judge.Open(filepath.Join(dir, "theirs.db")); err != nil {
		t.Fatal(err)
	}
	p.must("PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON")
	p.must(strings.Join(p.script, ";"))
	p.db, err = sqlitefile.Open(p.path, &sqlitefile.Options{Create: true, Durability: sqlitefile.DurabilityOff, ForeignKeys: true})
	if err == nil {
		err = p.db.Exec(t.Context(), strings.Join(p.script, ";"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var errBack = errors.New("rolled back")

// foreignTransaction makes some changes, and commits them if both can.
func (p *pair) foreignTransaction(n int) int {
	p.must("BEGIN")
	back := p.IntN(8) == 0
	ours := p.db.Update(p.t.Context(), func(tx *sqlitefile.Tx) error {
		for range n {
			if p.t.Failed() {
				break
			}
			if err := p.foreignChange(tx); err != nil {
				return err
			}
		}
		if back {
			return errBack
		}
		return nil
	})
	if back {
		p.must("ROLLBACK")
		if ours != errBack {
			p.failf("%v", ours)
		}
		return n
	}
	theirs := p.judge.Exec("COMMIT")
	if got, want := kindOf(ours), judge.Extended(theirs); !slices.Contains(got, want) {
		p.failf("COMMIT: SQLite: %v, ours: %v", theirs, ours)
	}
	if theirs != nil {
		p.must("ROLLBACK")
	}
	return n
}

// foreignChange makes one change in both.
func (p *pair) foreignChange(tx *sqlitefile.Tx) error {
	name := p.pick("p", "c", "c", "w")
	t, err := tx.Table(name)
	if err != nil {
		return err
	}
	id, small := int64(1+p.IntN(8)), func() any {
		if p.IntN(3) == 0 {
			return nil
		}
		return int64(1 + p.IntN(8))
	}
	text := func() any {
		if p.IntN(3) == 0 {
			return nil
		}
		return p.pick("a", "A", "b", "B", "c", "d")
	}
	if name == "w" {
		key, values := p.pick("a", "b", "c", "d"), []any{nil, small(), text()}
		values[0] = key
		switch p.IntN(3) {
		case 0:
			_, err = t.DeleteKey(key)
			p.same(err, "DELETE FROM w WHERE id = ?", key)
		case 1:
			_, err = t.Insert(values...)
			p.same(err, "INSERT INTO w VALUES(?,?,?)", values...)
		default:
			there, err := p.judge.Strings(p.t.Context(), "SELECT count(*) FROM w WHERE id = ?", key)
			if err == nil && there[0] != "0" {
				p.same(t.PutKey(values...), "UPDATE w SET id = ?, c = ?, up = ? WHERE id = ?", append(slices.Clone(values), key)...)
			}
		}
		return nil
	}
	values := []any{nil, text(), small(), small()}
	columns := []string{"id", "k", "a", "b"}
	if name == "c" {
		values, columns = []any{nil, small(), text(), small(), small(), small()}, []string{"id", "p", "k", "a", "b", "self"}
	}
	switch p.IntN(6) {
	case 0, 1:
		err = t.InsertRowid(id, values...)
		values[0] = id
		p.same(err, "INSERT INTO "+name+" VALUES("+strings.TrimSuffix(strings.Repeat("?,", len(values)), ",")+")", values...)
	case 2:
		_, err = t.Update(id, values...)
		p.same(err, "UPDATE "+name+" SET "+strings.Join(columns[1:], " = ?, ")+" = ? WHERE id = ?", append(slices.Clone(values[1:]), id)...)
	case 3:
		i := 1 + p.IntN(len(columns)-1)
		_, err = t.Set(id, i, values[i])
		p.same(err, "UPDATE "+name+" SET "+columns[i]+" = ? WHERE id = ?", values[i], id)
	case 4:
		_, err = t.Delete(id)
		p.same(err, "DELETE FROM "+name+" WHERE id = ?", id)
	default:
		high := id + int64(p.IntN(3))
		_, err = t.DeleteRange(id, high)
		p.same(err, "DELETE FROM "+name+" WHERE id BETWEEN ? AND ?", id, high)
	}
	return nil
}

// compareForeign compares the tables, and lets C check ours.
func (p *pair) compareForeign() {
	c, err := judge.Open(p.path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer c.Close()
	for _, pragma := range []string{"integrity_check", "foreign_key_check"} {
		ours, err := c.Strings(p.t.Context(), "PRAGMA "+pragma)
		if err != nil || len(ours) > 1 || len(ours) == 1 && ours[0] != "ok" {
			p.failf("%s: %q, %v", pragma, ours, err)
		}
	}
	for _, query := range []string{
		"SELECT quote(id)||quote(k)||quote(a)||quote(b) FROM p ORDER BY id",
		"SELECT quote(id)||quote(p)||quote(k)||quote(a)||quote(b)||quote(self) FROM c ORDER BY id",
		"SELECT quote(id)||quote(c)||quote(up) FROM w ORDER BY id",
	} {
		want, err := p.judge.Strings(p.t.Context(), query)
		got, err2 := c.Strings(p.t.Context(), query)
		if err != nil || err2 != nil || !slices.Equal(got, want) {
			p.failf("%s: %q, %v, SQLite: %q, %v", query, got, err2, want, err)
		}
	}
}
