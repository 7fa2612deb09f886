package ddl

import (
	"flag"
	"fmt"
	"strings"
	"testing"
)

// renameRuns is how many random RENAMEs TestRename runs, and renameSeed where it starts.
var (
	renameRuns = flag.Int("renames", 600, "number of random RENAMEs that both run")
	renameSeed = flag.Uint64("renames.seed", 0, "seed of the first schema for them")
)

// TestRename renames tables and columns at random by both, in schemas of several tables with
// indexes, foreign keys, CHECK and generated columns. The schemas are equal text by text, C SQLite
// finds ours sound, and both have the same rows.
func TestRename(t *testing.T) {
	t.Parallel()
	run, both, refused := 0, 0, 0
	for seed := *renameSeed; run < *renameRuns; seed++ {
		p := newPair(t, seed)
		script := p.renamed()
		if !renames(t, script) {
			continue
		}
		p.inOurs.must(script)
		p.theirs.must(script)
		p.insert()
		for range 12 {
			stmt := p.rename()
			before := p.both
			p.statement(stmt)
			if p.both > before {
				p.sameVersion(stmt)
			}
			if run++; t.Failed() {
				t.Fatalf("seed %d: %s\n%s", seed, script, stmt)
			}
		}
		p.inOurs.rows("SELECT count(*) FROM sqlite_schema") // C SQLite reads the new schema; some errors of INSERT come before it looks
		p.insert()
		if p.theirs.one("PRAGMA integrity_check") != "ok" {
			t.Logf("seed %d: C SQLite finds its own database unsound", seed)
			continue
		}
		p.sound()
		p.sameRows()
		if t.Failed() {
			t.Fatalf("seed %d: %s", seed, script)
		}
		both, refused = both+p.both, refused+p.refused
	}
	t.Logf("%d statements, %d run by both, %d beyond ours", run, both, refused)
}

// renamed returns a script that makes tables to rename, which C SQLite accepts.
func (p *pair) renamed() string {
	p.t.Helper()
	j := newJudge(p.t)
	defer j.close()
	var script strings.Builder
	for tries := 0; tries < 40; tries++ {
		stmt := p.renamedStatement(j)
		if j.exec(stmt) == nil {
			script.WriteString(strings.TrimRight(stmt, "; \n") + "\n;\n")
		}
	}
	return script.String()
}

// renames reports whether C SQLite reads the tables of a script again when it renames one: it makes
// some tables with two ON CONFLICT clauses for one column that it then refuses.
func renames(t *testing.T, script string) bool {
	t.Helper()
	j := newJudge(t)
	defer j.close()
	j.must(script)
	table := j.one("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' LIMIT 1")
	err := j.exec(`ALTER TABLE "` + strings.ReplaceAll(table, `"`, `""`) + `" RENAME TO probed`)
	return err == nil || !strings.Contains(err.Error(), "conflicting ON CONFLICT clauses")
}

// renamedStatement returns a CREATE TABLE or CREATE INDEX that is likely to name existing objects.
func (p *pair) renamedStatement(j *judge) string {
	g := p.g
	tables := j.rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
	if len(tables) < 2 || len(tables) < 4 && g.chance(20) {
		return g.renamedTable(tables, j)
	}
	table := g.pick(tables...)
	g.columns = j.rows("SELECT name FROM pragma_table_xinfo(?)", table)
	return g.renamedIndex(table)
}

// renamedTable is table with the parents it may refer to.
func (g *generator) renamedTable(tables []string, j *judge) string {
	stmt := strings.TrimSuffix(g.table(), "/* open")
	name := g.pick("t", "u", `"odd name"`, "[x y]", "'s'", "é", "Order_", `"do""uble"`, "key", "`q`")
	for _, old := range []string{"t", "T1", `"odd name"`, "[x y]", "'s'"} {
		stmt = strings.Replace(stmt, "TABLE "+old+" ", "TABLE "+name+" ", 1)
	}
	for range 2 {
		parent := name
		if len(tables) > 0 && g.chance(70) {
			parent = g.quoteName(g.pick(tables...))
		}
		columns := append(j.rows("SELECT name FROM pragma_table_xinfo(?)", strings.Trim(parent, "\"[]`'")), "a", "b")
		child := g.pick(g.columns...)
		of := g.maybe(60, "("+g.quoteName(g.pick(columns...))+")")
		if i := strings.LastIndex(stmt, ")"); i > 0 && g.chance(70) {
			stmt = stmt[:i] + "\n, FOREIGN KEY(" + child + ")REFERENCES " + parent + of + g.maybe(30, "ON DELETE CASCADE") + stmt[i:]
		}
	}
	return stmt
}

// quoteName spells a name in one of its ways.
func (g *generator) quoteName(name string) string {
	if isPlain(strings.ToLower(name)) && g.chance(50) {
		return g.pick(name, strings.ToUpper(name))
	}
	if !strings.ContainsAny(name, "]`'") && g.chance(50) {
		return g.pick("["+name+"]", "`"+name+"`", "'"+name+"'")
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// renamedIndex makes an index on a table.
func (g *generator) renamedIndex(table string) string {
	for i, c := range g.columns {
		g.columns[i] = g.quoteName(c)
	}
	stmt := g.index()
	i := strings.Index(stmt, " ON")
	k := strings.Index(stmt, "(")
	if i < 0 || k < i {
		return stmt
	}
	where := ""
	if !strings.Contains(stmt, "WHERE") && g.chance(40) {
		where = " WHERE " + g.quoteName(table) + "." + g.pick(g.columns...) + g.pick(" > 0", " IS NOT NULL", "<>rowid")
	}
	return fmt.Sprintf(`CREATE %s INDEX "i%d" ON %s %s`, g.maybe(10, "UNIQUE"), g.IntN(1000), g.quoteName(table), strings.TrimRight(strings.Split(stmt[k:], "--")[0], "; ")) + where
}

// rename returns a random RENAME.
func (p *pair) rename() string {
	g := p.g
	tables := p.theirs.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")
	table := g.pick(tables...)
	to := g.pick(g.name(), g.name(), g.name(), "rowid", "fresh", `"new name"`, "[n]", "'it''s'", "u", g.quoteName(g.pick(tables...)))
	var stmt string
	if g.chance(35) {
		stmt = g.spell("ALTER TABLE", g.maybe(10, "main."), "§", "RENAME TO") + to
	} else {
		columns := append(p.theirs.rows("SELECT name FROM pragma_table_xinfo(?)", table), "absent")
		stmt = g.spell("ALTER TABLE", "§", "RENAME", g.maybe(50, "COLUMN")) + g.quoteName(g.pick(columns...)) + g.spell(" TO") + to
	}
	if g.chance(3) {
		stmt = g.damage(stmt)
	}
	return strings.ReplaceAll(stmt, "§", g.quoteName(table)) + g.maybe(20, ";", " ; -- end")
}
