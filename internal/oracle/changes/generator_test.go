package changes

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A generator makes programs: the statements of a schema, and then statements that change rows.
type generator struct {
	*rand.Rand
	tables []*table
	views  int
}

type table struct {
	name    string
	columns []column
	key     []string // of a table WITHOUT ROWID, or a key that is not the rowid
	rowid   bool
	unique  [][]string
}

type column struct {
	name, typ string
	generated bool
}

// pick returns one of the words.
func (g *generator) pick(words ...string) string { return words[g.IntN(len(words))] }

// maybe returns the text one time in n.
func (g *generator) maybe(n int, text string) string {
	if g.IntN(n) == 0 {
		return text
	}
	return ""
}

// conflict returns an ON CONFLICT clause of a constraint, which most have not.
func (g *generator) conflict() string {
	return g.maybe(6, " ON CONFLICT "+g.pick("IGNORE", "REPLACE", "FAIL", "ABORT", "ROLLBACK"))
}

// schema returns the statements that make the tables.
func (g *generator) schema(triggers bool) (list []string) {
	for i := range 1 + g.IntN(3) {
		list = append(list, g.table(i)...)
	}
	if triggers {
		for range g.IntN(4) {
			list = append(list, g.trigger())
		}
	}
	return list
}

func (g *generator) table(i int) (list []string) {
	t := &table{name: fmt.Sprintf("t%d", i), rowid: true}
	var defs []string
	integerKey := g.IntN(3) == 0
	if integerKey {
		t.columns = append(t.columns, column{"id", "INTEGER", false})
		defs = append(defs, "id INTEGER PRIMARY KEY"+g.maybe(4, " AUTOINCREMENT"))
		t.unique = append(t.unique, []string{"id"})
	}
	for k := range 2 + g.IntN(4) {
		c := column{fmt.Sprintf("c%d", k), g.pick("INTEGER", "TEXT", "REAL", "BLOB", "", "NUMERIC", "ANY"), false}
		def := c.name + " " + c.typ
		if k > 1 && g.IntN(8) == 0 {
			def += fmt.Sprintf(" GENERATED ALWAYS AS (%s) %s", g.pick("c0 || c1", "c0 + 1", "coalesce(c1, 7)", "abs(c0)"), g.pick("STORED", "VIRTUAL"))
			c.generated = true
		} else {
			def += g.maybe(3, " DEFAULT "+g.pick("1", "'d'", "NULL", "2.5", "(1+2)", "x'00'"))
		}
		def += g.maybe(5, " NOT NULL"+g.conflict())
		def += g.maybe(6, " COLLATE "+g.pick("NOCASE", "RTRIM", "BINARY"))
		if g.IntN(6) == 0 {
			def += " UNIQUE" + g.conflict()
			t.unique = append(t.unique, []string{c.name})
		}
		def += g.maybe(8, fmt.Sprintf(" CHECK (%s)", g.pick(c.name+" <> 3", c.name+" IS NOT 'b'", "typeof("+c.name+") <> 'blob'", "length("+c.name+") < 6")))
		if i > 0 && g.IntN(6) == 0 && !c.generated {
			p := g.tables[g.IntN(len(g.tables))]
			if len(p.unique) > 0 {
				if u := p.unique[g.IntN(len(p.unique))]; len(u) == 1 {
					def += fmt.Sprintf(" REFERENCES %s(%s)%s%s%s", p.name, u[0], g.maybe(2, " ON DELETE "+g.action()), g.maybe(2, " ON UPDATE "+g.action()), g.maybe(4, " DEFERRABLE INITIALLY DEFERRED"))
				}
			}
		}
		t.columns = append(t.columns, c)
		defs = append(defs, def)
	}
	options := ""
	if !integerKey && g.IntN(2) == 0 {
		t.key = []string{"c0"}
		if g.IntN(2) == 0 {
			t.key = []string{"c1", "c0"}
		}
		t.unique = append(t.unique, t.key)
		defs = append(defs, "PRIMARY KEY ("+strings.Join(t.key, ", ")+")"+g.conflict())
		if g.IntN(2) == 0 {
			options, t.rowid = " WITHOUT ROWID", false
		}
	}
	if g.IntN(5) == 0 {
		t.unique = append(t.unique, []string{"c1", "c0"})
		defs = append(defs, "UNIQUE (c1, c0)"+g.conflict())
	}
	list = []string{fmt.Sprintf("CREATE TABLE %s (%s)%s", t.name, strings.Join(defs, ", "), options)}
	g.tables = append(g.tables, t)
	for k := range g.IntN(3) {
		columns := g.pick("c0", "c1", "c1, c0", "c0 DESC", "c1 COLLATE NOCASE", "c0, c1 DESC", "c0 + 1", "lower(c1)")
		unique := ""
		if g.IntN(2) == 0 {
			unique = "UNIQUE "
		}
		where := g.maybe(3, " WHERE "+g.pick("c0 > 2", "c1 IS NOT NULL", "c0 IS NULL"))
		if unique != "" && where == "" && (columns == "c0" || columns == "c1") {
			t.unique = append(t.unique, []string{columns})
		}
		list = append(list, fmt.Sprintf("CREATE %sINDEX %s_i%d ON %s (%s)%s", unique, t.name, k, t.name, columns, where))
	}
	return list
}

func (g *generator) action() string {
	return g.pick("CASCADE", "SET NULL", "SET DEFAULT", "RESTRICT", "NO ACTION")
}

// value returns a literal, of few, so that rows meet.
func (g *generator) value() string {
	return g.pick("NULL", "0", "1", "2", "3", "4", "5", "-1", "'a'", "'b'", "'A'", "'a '", "'1'", "'2.0'", "1.0", "2.5", "x'61'", "x''", "4611686018427387904", "'abcdefg'")
}

func (g *generator) any(t *table) string {
	if c := t.columns[g.IntN(len(t.columns))].name; g.IntN(9) > 0 || !t.rowid {
		return c
	}
	return "rowid"
}

// expr returns an expression over the row of a table under a name; "" for none.
func (g *generator) expr(t *table, as string, depth int) string {
	dot := as
	if as != "" {
		dot += "."
	}
	switch g.IntN(10) {
	case 0, 1, 2:
		return g.value()
	case 3, 4, 5:
		if t != nil {
			return dot + g.any(t)
		}
		return g.value()
	case 6:
		if depth > 0 {
			return g.expr(t, as, depth-1) + g.pick(" + ", " || ", " * ", " - ") + g.expr(t, as, depth-1)
		}
	case 7:
		if depth > 0 {
			return g.pick("abs", "lower", "typeof", "length", "quote") + "(" + g.expr(t, as, depth-1) + ")"
		}
	case 8:
		if depth > 0 {
			o := g.tables[g.IntN(len(g.tables))]
			return fmt.Sprintf("(SELECT %s FROM %s%s)", g.pick("count(*)", "max("+g.any(o)+")", "min("+g.any(o)+")"), o.name, g.maybe(2, " AS s WHERE s."+g.any(o)+" = "+g.expr(t, as, 0)))
		}
	case 9:
		if depth > 0 {
			return fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", g.condition(t, as, 0), g.expr(t, as, 0), g.expr(t, as, 0))
		}
	}
	return g.value()
}

func (g *generator) condition(t *table, as string, depth int) string {
	x, y := g.expr(t, as, depth), g.expr(t, as, depth)
	switch g.IntN(6) {
	case 0:
		return x + " IS NOT NULL"
	case 1:
		return fmt.Sprintf("%s IN (%s, %s)", x, y, g.value())
	case 2:
		if depth > 0 {
			return g.condition(t, as, depth-1) + g.pick(" AND ", " OR ") + g.condition(t, as, depth-1)
		}
	}
	return x + g.pick(" = ", " < ", " >= ", " <> ", " IS ") + y
}

// order returns terms that leave no two rows equal.
func (t *table) order() string {
	if t.rowid {
		return "rowid"
	}
	return strings.Join(t.key, ", ")
}

// writable returns columns to give values to, in some order.
func (g *generator) writable(t *table, all bool) (list []string) {
	for _, i := range g.Perm(len(t.columns)) {
		if c := t.columns[i]; !c.generated && (all || g.IntN(3) > 0) {
			list = append(list, c.name)
		}
	}
	if t.rowid && g.IntN(8) == 0 {
		list = append(list, "rowid")
	}
	if list == nil {
		list = []string{t.columns[0].name}
	}
	return list
}

// statement returns a statement that changes rows.
func (g *generator) statement(inTrigger bool) string {
	t := g.tables[g.IntN(len(g.tables))]
	with := ""
	if !inTrigger {
		with = g.maybe(12, "WITH w(x, y) AS (VALUES (1, 'a'), (2, 'b')) ")
	}
	returning := ""
	if !inTrigger {
		returning = g.maybe(2, " RETURNING "+g.pick("*", "*, rowid", g.expr(t, "", 1)+" AS r, "+g.any(t)))
		if !t.rowid {
			returning = strings.ReplaceAll(returning, ", rowid", "")
		}
	}
	or := g.maybe(3, " OR "+g.pick("IGNORE", "REPLACE", "FAIL", "ABORT", "ROLLBACK"))
	switch n := g.IntN(20); {
	case n < 11:
		return with + g.insert(t, or, with != "") + returning
	case n < 17:
		return with + g.update(t, or, with != "", inTrigger) + returning
	}
	where := g.maybe(2, " WHERE "+g.condition(t, "", 1))
	if where == "" && g.IntN(3) > 0 {
		where = " WHERE " + g.any(t) + " = " + g.value()
	}
	return with + "DELETE FROM " + t.name + where + returning
}

func (g *generator) insert(t *table, or string, with bool) string {
	verb := "INSERT" + or + " INTO "
	if or == "" && g.IntN(10) == 0 {
		verb = "REPLACE INTO "
	}
	if g.IntN(25) == 0 {
		return verb + t.name + " DEFAULT VALUES"
	}
	columns := g.writable(t, g.IntN(2) == 0)
	row := func(from *table, as string) string {
		var values []string
		for range columns {
			values = append(values, g.expr(from, as, 1))
		}
		return strings.Join(values, ", ")
	}
	sql := verb + t.name + " (" + strings.Join(columns, ", ") + ") "
	switch from := g.tables[g.IntN(len(g.tables))]; {
	case with:
		sql += "SELECT " + strings.Repeat("x, ", len(columns)-1) + "y FROM w WHERE true"
	case g.IntN(4) == 0:
		sql += "SELECT " + row(from, "") + " FROM " + from.name + " WHERE " + g.condition(from, "", 0) + " ORDER BY " + from.order() + g.maybe(2, " LIMIT 3")
	default:
		sql += "VALUES (" + row(nil, "") + ")"
		for range g.IntN(3) {
			sql += ", (" + row(nil, "") + ")"
		}
	}
	if verb != "REPLACE INTO " && g.IntN(3) == 0 {
		sql += g.upsert(t)
	}
	return sql
}

func (g *generator) upsert(t *table) (sql string) {
	for i := range 1 + g.IntN(2) {
		target := ""
		if len(t.unique) > 0 && (i == 0 || g.IntN(2) == 0) && g.IntN(5) > 0 {
			target = "(" + strings.Join(t.unique[g.IntN(len(t.unique))], ", ") + ")"
		}
		do := "NOTHING"
		if g.IntN(3) > 0 {
			do = "UPDATE SET " + g.assignments(t, "excluded", false) + g.maybe(3, " WHERE "+g.condition(t, g.pick("excluded", t.name), 0))
		}
		sql += " ON CONFLICT" + target + " DO " + do
		if target == "" {
			break
		}
	}
	return sql
}

// assignments returns the list of SET, which may read another row.
func (g *generator) assignments(t *table, other string, rows bool) string {
	var list []string
	columns := g.writable(t, false)
	for _, c := range columns[:min(len(columns), 1+g.IntN(3))] {
		as := t.name
		if other != "" && g.IntN(2) == 0 {
			as = other
		}
		list = append(list, c+" = "+g.expr(t, as, 1))
	}
	if rows && len(columns) > 1 && g.IntN(6) == 0 {
		from := g.tables[g.IntN(len(g.tables))]
		list = []string{fmt.Sprintf("(%s, %s) = (SELECT %s, %s FROM %s ORDER BY 1, 2 LIMIT 1)", columns[0], columns[1], g.any(from), g.value(), from.name)}
	}
	return strings.Join(list, ", ")
}

func (g *generator) update(t *table, or string, with, inTrigger bool) string {
	sql := "UPDATE" + or + " " + t.name + " SET "
	switch from := g.tables[g.IntN(len(g.tables))]; {
	case with:
		return sql + g.assignments(t, "", false) + " FROM w WHERE w.x = " + t.name + "." + g.any(t)
	case g.IntN(6) == 0 && from != t && !inTrigger:
		x, y := g.any(from), g.any(from) // one row of each group: which of several counts is not defined
		return fmt.Sprintf("%s%s = s.y FROM (SELECT %s AS x, max(%s) AS y FROM %s GROUP BY 1) AS s WHERE s.x = %s.%s", sql, t.columns[0].name, x, y, from.name, t.name, g.any(t))
	}
	sql += g.assignments(t, "", true)
	if g.IntN(4) > 0 {
		sql += " WHERE " + g.condition(t, "", 1)
	}
	return sql
}

// trigger returns a CREATE TRIGGER.
func (g *generator) trigger() string {
	g.views++
	t := g.tables[g.IntN(len(g.tables))]
	event := g.pick("INSERT", "DELETE", "UPDATE", "UPDATE OF c0", "UPDATE OF c1, c0")
	rows := []string{"new", "old"}
	switch event {
	case "INSERT":
		rows = rows[:1]
	case "DELETE":
		rows = rows[1:]
	}
	when := ""
	if g.IntN(3) == 0 {
		when = " WHEN " + g.condition(t, g.pick(rows...), 0)
	}
	var body strings.Builder
	for range 1 + g.IntN(2) {
		switch g.IntN(8) {
		case 0:
			fmt.Fprintf(&body, "SELECT RAISE(%s) WHERE %s; ", g.pick("IGNORE", "ABORT, 'no'", "FAIL, 'stop'", "ROLLBACK, 'back'"), g.condition(t, g.pick(rows...), 0))
		case 1:
			o := g.tables[g.IntN(len(g.tables))]
			fmt.Fprintf(&body, "UPDATE %s SET %s = %s WHERE %s = %s; ", o.name, o.columns[len(o.columns)-1].name, g.expr(t, g.pick(rows...), 1), g.any(o), g.expr(t, g.pick(rows...), 0))
		default:
			body.WriteString(g.statement(true) + "; ")
		}
	}
	return fmt.Sprintf("CREATE TRIGGER r%d %s %s ON %s%s BEGIN %sEND", g.views, g.pick("BEFORE", "AFTER", ""), event, t.name, when, body.String())
}
