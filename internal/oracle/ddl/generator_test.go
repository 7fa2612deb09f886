package ddl

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A generator makes CREATE statements in odd spellings. The same seed makes the same statements.
type generator struct {
	*rand.Rand
	columns []string // names that an expression may use

	strict    bool // only standard types
	primary   bool // the table has a PRIMARY KEY
	special   bool // the column is a key, generated or has a default: not more than one of these
	generated bool // a column is generated: no more of them
}

func newGenerator(seed uint64) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, 7)), columns: []string{"a", "b", "c"}}
}

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

// pick returns one of its arguments.
func (g *generator) pick(of ...string) string { return of[g.IntN(len(of))] }

// maybe returns one of its arguments, or nothing.
func (g *generator) maybe(percent int, of ...string) string {
	if g.chance(percent) {
		return g.pick(of...)
	}
	return ""
}

// spell joins the words with space, comments and letters of either case where they change nothing.
func (g *generator) spell(words ...string) string {
	var b strings.Builder
	for _, w := range strings.Fields(strings.Join(words, " ")) {
		b.WriteString(w)
		b.WriteString(g.pick(" ", " ", " ", " ", " ", " ", "\n", "\t", " /* a, b) */ ", " -- it's\n", "/**/"))
	}
	return b.String()
}

var names = []string{
	"a", "b", "c", "A", "B1", "d", "e", "_x", "x$y", "`q`", `"quoted"`, "[bracket]", "'string'", `"do""uble"`, "'it''s'",
	"key", "desc", "if", "abort", "temp", "view", "rowid", "oid", "true", "generated", "always", "strict", "without", "left",
	"natural", "indexed", "replace", "conflict", "current_date", "like", "glob", "match", "end", "cast", "raise", "over",
	"filter", "window", "with", "recursive", "first", "last", "nulls", "action", "no", "materialized", "virtual", "stored",
	"é", "日本", `"GROUP"`, "[select]", `"a"`, "[b]", "x", "X1",
}

func (g *generator) name() string { return g.pick(names...) }

// column returns one of the columns, in one of its spellings.
func (g *generator) column() string {
	c := g.pick(g.columns...)
	if c == "with" {
		return `"with"` // (with is the start of a SELECT, which internal/ddl does not look into
	}
	if g.chance(30) && isPlain(c) {
		return g.pick(`"`+c+`"`, "["+c+"]", "`"+c+"`", strings.ToUpper(c), "'"+c+"'")
	}
	return c
}

func isPlain(name string) bool { return strings.Trim(name, "abcdefgxyABX1_") == "" }

var types = []string{
	"", "", "INTEGER", "integer", "INT", "TEXT", "BLOB", "REAL", "ANY", "NUMERIC", "VARCHAR(10)", "DECIMAL(10, 5)", "UNSIGNED BIG INT",
	"double precision", "CHARINT", "FLOATING POINT", "STRING", "'INTEGER'", `"integer"`, "[INTEGER]", `""`, "''", "[ ]", `"TEXT" x`,
	"[TEXT] y", "foo bar baz", "NATIVE CHARACTER(-70)", "T(+1.5,-2)", "desc", "key", "GENERATED ALWAYS", "INT GENERATED ALWAYS",
	"'a' 'b'", "BLOBINT", "CLOB", "datetime", "boolean", "x/*INT*/y", "INTEGER(5)", `"it""s"`, "real always", "aaaaaaaaaa always",
}

// table makes a CREATE TABLE.
func (g *generator) table() string {
	g.strict, g.primary, g.generated = g.chance(10), false, false
	parts := []string{"CREATE TABLE", g.maybe(10, "IF NOT EXISTS"), g.maybe(10, "main."), g.pick("t", "t", "T1", `"odd name"`, "[x y]", "'s'"), "("}
	n := 1 + g.IntN(5)
	g.columns = nil
	for i := range n {
		if i > 0 {
			parts = append(parts, ",")
		}
		parts = append(parts, g.columnDefinition())
	}
	for i := range g.IntN(4) {
		if i == 0 || g.chance(70) {
			parts = append(parts, ",")
		}
		parts = append(parts, g.constraint())
	}
	parts = append(parts, ")", g.options())
	return g.spell(parts...) + g.maybe(20, ";", " ; ", ";\n-- end", " -- end", "/* open")
}

// options makes the table options that fit the statement so far, most of the time.
func (g *generator) options() string {
	withoutRowid := g.primary && g.chance(50) || g.chance(1)
	switch {
	case g.strict && withoutRowid:
		return g.pick("STRICT, without rowid", ", WITHOUT ROWID,STRICT", "without rowid /* x */, strict, strict")
	case g.strict:
		return g.pick("STRICT", ", strict")
	case withoutRowid:
		return g.pick("WITHOUT ROWID", "without rowid", ", without /**/ RowId")
	}
	return g.maybe(2, "STRICT", "WITHOUT ROWID", "rowid", ",", "WITHOUT 'rowid'", `"strict"`)
}

// columnDefinition makes a column, with a name that is new most of the time.
func (g *generator) columnDefinition() string {
	name := g.name()
	for g.chance(97) && contains(g.columns, name) {
		name = g.name()
	}
	g.columns = append(g.columns, name)
	parts := []string{name, g.pick(types...)}
	if g.strict && g.chance(99) {
		parts[1] = g.pick("INT", "integer", "TEXT", "blob", "REAL", "Any")
	}
	g.special = false
	for range g.IntN(4) {
		parts = append(parts, g.columnConstraint())
	}
	return strings.Join(parts, " ")
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if strings.EqualFold(strings.Trim(x, "\"[]`'"), strings.Trim(s, "\"[]`'")) {
			return true
		}
	}
	return false
}

func (g *generator) onConflict() string {
	return g.maybe(20, "ON CONFLICT REPLACE", "on conflict ignore", "ON CONFLICT ABORT", "ON CONFLICT FAIL", "ON CONFLICT ROLLBACK")
}

func (g *generator) columnConstraint() string {
	switch kind := g.IntN(14); kind {
	case 0, 1, 7, 8, 11:
		return g.specialConstraint(kind)
	case 2, 3:
		return "UNIQUE " + g.onConflict()
	case 4:
		return "NOT NULL " + g.onConflict()
	case 5:
		return "NULL " + g.onConflict()
	case 6:
		return "COLLATE " + g.collation()
	case 9:
		return "CHECK (" + g.expr(2) + ")"
	case 10:
		return "REFERENCES " + g.references(1)
	case 12:
		return "CONSTRAINT " + g.name()
	}
	return g.deferrable()
}

// specialConstraint makes a constraint that excludes other ones of its kind, and nothing if there
// is one already, most of the time.
func (g *generator) specialConstraint(kind int) string {
	if g.special && g.chance(98) {
		return ""
	}
	g.special = true
	switch {
	case kind <= 1 && (!g.primary || g.chance(2)):
		g.primary = true
		return "PRIMARY KEY " + g.maybe(40, "ASC", "DESC") + " " + g.onConflict() + " " + g.maybe(3, "AUTOINCREMENT")
	case kind == 11 && (!g.generated && len(g.columns) > 1 || g.chance(2)):
		g.generated = true
		return g.pick("GENERATED ALWAYS AS", "AS") + " (" + g.pick("1", "1 + 2", "'x'", g.expr(1)) + ") " + g.maybe(60, "VIRTUAL", "STORED", "stored")
	}
	return "DEFAULT " + g.defaultValue()
}

func (g *generator) collation() string {
	return g.pick("NOCASE", "nocase", "BINARY", "RTRIM", `"NOCASE"`, "'rtrim'", "[binary]")
}

func (g *generator) deferrable() string {
	return g.pick("NOT", "") + " DEFERRABLE " + g.maybe(60, "INITIALLY DEFERRED", "INITIALLY IMMEDIATE")
}

func (g *generator) references(columns int) string {
	s := g.name()
	if g.chance(60) {
		list := make([]string, columns)
		for i := range list {
			list[i] = g.name()
		}
		s += " (" + strings.Join(list, ", ") + ")"
	}
	for range g.IntN(3) {
		s += " " + g.pick("ON DELETE", "ON UPDATE", "ON INSERT", "MATCH FULL --") + "\n" +
			g.pick("SET NULL", "SET DEFAULT", "CASCADE", "RESTRICT", "NO ACTION")
		if strings.Contains(s, "MATCH") {
			s = strings.ReplaceAll(s, "MATCH FULL --", "MATCH FULL ON DELETE")
		}
	}
	return s
}

func (g *generator) defaultValue() string {
	return g.pick("1", "-1", "+ 5", "- 0x10", "1.5", "-.5e3", "'text'", `"quoted"`, "[bracket]", "word", "TRUE", "false", "NULL",
		"x'0aFF'", "X''", "CURRENT_TIMESTAMP", "current_date", "(1 + 2)", "( 'x' || 'y' )", "(random())", "9223372036854775808",
		"-9223372036854775808", "1_000", "key", "(("+g.literal()+"))", "indexed", "cast", "(NULL)", "window", "("+g.literal()+"+1)",
		"( 1 /* one */ )") + g.maybe(1, "(a)", "+", "- 'x'", "left", "("+g.expr(1)+")")
}

// constraint makes a table constraint.
func (g *generator) constraint() string {
	name := g.maybe(30, "CONSTRAINT "+g.name()+" ")
	switch g.IntN(6) {
	case 0, 1:
		return name + "UNIQUE (" + g.keyTerms() + ") " + g.onConflict()
	case 2, 3:
		if !g.primary || g.chance(2) {
			g.primary = true
			return name + "PRIMARY KEY (" + g.keyTerms() + g.maybe(3, " AUTOINCREMENT") + ") " + g.onConflict()
		}
		return name + "UNIQUE (" + g.keyTerms() + ")"
	case 4:
		return name + "CHECK (" + g.expr(2) + ") " + g.onConflict()
	}
	n := 1 + g.IntN(2)
	list := make([]string, n)
	for i := range list {
		list[i] = g.column()
	}
	return name + "FOREIGN KEY (" + strings.Join(list, ",") + ") REFERENCES " + g.references(n) + " " + g.maybe(30, g.deferrable())
}

// keyTerms makes a list of columns.
func (g *generator) keyTerms() string {
	var list []string
	for range 1 + g.IntN(4) {
		c := g.column()
		if g.chance(5) {
			c = "(" + c + ")"
		}
		if g.chance(25) {
			c += " COLLATE " + g.collation()
		}
		list = append(list, c+" "+g.maybe(30, "ASC", "DESC")+g.maybe(1, " NULLS FIRST"))
	}
	return strings.Join(list, " , ")
}

// index makes a CREATE INDEX on a table called t with the columns a, b and c.
func (g *generator) index() string {
	var list []string
	for range 1 + g.IntN(4) {
		c := g.column()
		if g.chance(40) {
			c = g.expr(2)
		}
		if g.chance(30) {
			c += " COLLATE " + g.collation()
		}
		list = append(list, c+" "+g.maybe(30, "ASC", "DESC"))
	}
	where := ""
	if g.chance(30) {
		where = "WHERE " + g.expr(2)
	}
	return g.spell("CREATE", g.maybe(30, "UNIQUE"), "INDEX", g.maybe(10, "IF NOT EXISTS"), g.maybe(10, "main."), g.pick("i", `"i i"`, "'i'", "[j]", "if", "key"), "ON",
		g.pick("t", "T", `"t"`, "'t'"), "(", strings.Join(list, ","), ")", where) + g.maybe(20, ";", " ; ", "-- end")
}

func (g *generator) literal() string {
	return g.pick("1", "0x1F", "2.5", "'s'", "x'00'", "NULL", "TRUE", "1e3", ".5", "5.", "'it''s'")
}

// expr makes an expression.
func (g *generator) expr(depth int) string {
	if depth == 0 {
		if g.chance(40) {
			return g.literal()
		}
		return g.column()
	}
	x, y := g.expr(depth-1), g.expr(depth-1)
	switch g.IntN(22) {
	case 0, 1, 2:
		return x + " " + g.pick("+", "-", "*", "/", "%", "||", "=", "==", "<>", "!=", "<", "<=", ">", ">=", "&", "|", "<<", ">>", "->", "->>") + " " + y
	case 3:
		return x + " " + g.pick("AND", "OR", "IS", "IS NOT", "LIKE", "NOT LIKE", "GLOB", "IS DISTINCT FROM", "IS NOT DISTINCT FROM") + " " + y
	case 4:
		return g.pick("-", "+", "~", "NOT", "- -", "NOT NOT") + " " + x
	case 5:
		return "(" + x + ")"
	case 6:
		return x + " BETWEEN " + y + " AND " + g.expr(0)
	case 7:
		return x + " " + g.pick("IN", "NOT IN") + " (" + g.maybe(80, y+", "+x, y) + ")"
	case 8:
		return x + " " + g.pick("ISNULL", "NOTNULL", "NOT NULL", "IS NULL", "IS NOT NULL")
	case 9:
		return "CASE " + g.maybe(50, x) + " WHEN " + y + " THEN " + x + " " + g.maybe(50, "ELSE "+y) + " END"
	case 10:
		return "CAST (" + x + " AS " + g.pick("TEXT", "INT", "", "VARCHAR(5)", "'odd' type", "DECIMAL(1,2)") + ")"
	case 11:
		return g.pick("abs", "coalesce", "like", "lower", `"length"`, "[max]", "glob", "replace", "if") + "(" + x + g.maybe(50, ", "+y) + ")"
	case 12:
		return x + " LIKE " + y + " ESCAPE '\\'"
	case 13, 14:
		return x + " COLLATE " + g.collation()
	case 15:
		return g.pick("count(*)", "sum("+x+") FILTER (WHERE 1)", "count(*) OVER ()", "max(DISTINCT "+x+")", "group_concat("+x+" ORDER BY "+y+" DESC NULLS LAST)", "random()")
	case 16:
		return g.pick("(SELECT 1)", "EXISTS (SELECT 1)", x+" IN (SELECT 1)", "t."+x, "main.t."+x, "("+x+","+y+") = ("+y+","+x+")", "a IN t", "?", ":v")
	case 17:
		return x + " MATCH " + y
	case 18:
		return x + " ISNULL COLLATE " + g.collation()
	case 19:
		return g.pick("current_date", "current_time", "rowid", "1_000", "true", "desc", "end", "like", "cast", "raise", "over", "filter")
	}
	return x
}

// damage drops, repeats, swaps or replaces some tokens of a statement.
func (g *generator) damage(stmt string) string {
	words := strings.Fields(strings.NewReplacer("-- it's\n", " ", "-- end", "", "(", " ( ", ")", " ) ", ",", " , ").Replace(stmt))
	for range 1 + g.IntN(2) {
		i, k := g.IntN(len(words)), g.IntN(len(words))
		switch g.IntN(4) {
		case 0:
			words[i] = ""
		case 1:
			words[i] += " " + words[k]
		case 2:
			words[i], words[k] = words[k], words[i]
		case 3:
			words[i] = g.pick("(", ")", ",", "key", "NULL", "AS", "1", "'x'", "DESC", "ON", "left", "x'0'", "1a", "\"open", ".", "$", "GENERATED", "ALWAYS", "NOT", "INDEXED", "CHECK", "1__0", "END")
		}
	}
	return strings.Join(words, " ")
}

// String shows where a generator stands, for failures.
func (g *generator) String() string { return fmt.Sprint(g.columns) }
