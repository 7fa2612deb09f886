package queries

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A generator makes random schemas, rows and queries. It aims at the kinds of queries for which
// other engines gave wrong answers: collations, affinities, outer joins, NULLs, limits.
type generator struct {
	*rand.Rand
	tables []genTable
	depth  int

	ordered bool // ORDER BY decides the order of the last query
}

// A genTable is a table, a view or a source of a query.
type genTable struct {
	name    string
	columns []string
	rowid   bool
}

func (g *generator) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

// schema returns the statements that make the database.
func (g *generator) schema() (statements []string) {
	for i := range 2 + g.IntN(2) {
		t := genTable{name: fmt.Sprintf("t%d", i), rowid: true}
		var columns []string
		if g.chance(40) {
			t.columns = append(t.columns, "id")
			columns = append(columns, "id INTEGER PRIMARY KEY")
		}
		for _, name := range []string{"a", "b", "c", "d"}[:2+g.IntN(3)] {
			t.columns = append(t.columns, name)
			c := name + " " + g.pick("", "INT", "INTEGER", "TEXT", "VARCHAR(10)", "REAL", "NUMERIC", "BLOB", "DECIMAL(5,2)")
			if g.chance(25) {
				c += " COLLATE " + g.pick("NOCASE", "RTRIM", "BINARY")
			}
			columns = append(columns, c)
		}
		end := ")"
		if t.columns[0] != "id" && g.chance(25) {
			key := g.pick("k DESC", "k", "a, k", "k, b DESC", "a COLLATE NOCASE, b, k", "b COLLATE RTRIM DESC, k", "a, k, a")
			columns = append(columns, "k INTEGER, PRIMARY KEY ("+key+")")
			t.columns, t.rowid = append(t.columns, "k"), false
			end = ") WITHOUT ROWID"
		}
		statements = append(statements, fmt.Sprintf("CREATE TABLE %s (%s%s", t.name, strings.Join(columns, ", "), end))
		g.tables = append(g.tables, t)
		for n := range 3 + g.IntN(25) {
			values := make([]string, len(t.columns))
			for k, column := range t.columns {
				switch column {
				case "id", "k":
					values[k] = fmt.Sprint(n*3 - 4)
				default:
					values[k] = g.value()
				}
			}
			statements = append(statements, fmt.Sprintf("INSERT INTO %s VALUES (%s)", t.name, strings.Join(values, ", ")))
		}
		for n := range g.IntN(4) {
			terms := make([]string, 1+g.IntN(3))
			for k := range terms {
				terms[k] = t.columns[g.IntN(len(t.columns))]
				if g.chance(25) {
					terms[k] += " COLLATE " + g.pick("NOCASE", "RTRIM", "BINARY")
				}
				if g.chance(25) {
					terms[k] += " DESC"
				}
			}
			s := fmt.Sprintf("CREATE INDEX i%d_%d ON %s (%s)", i, n, t.name, strings.Join(terms, ", "))
			if g.chance(30) {
				c := t.columns[g.IntN(len(t.columns))]
				s += " WHERE " + g.pick(c+" IS NOT NULL", c+" IS NOT NULL", c+" > 1", c+" = 'a' OR "+c+" IS NOT NULL", c+" IS NULL",
					"typeof("+c+") = 'text'", c+" IS NOT NULL AND "+t.columns[0]+" <> 2")
			}
			statements = append(statements, s)
		}
	}
	for i := range g.IntN(3) {
		g.depth = 1
		name := fmt.Sprintf("v%d", i)
		width := 1 + g.IntN(3)
		statements = append(statements, fmt.Sprintf("CREATE VIEW %s(%s) AS %s", name, strings.Join(letters[:width], ", "), g.query(nil, width, false)))
		g.tables = append(g.tables, genTable{name: name, columns: letters[:width]})
	}
	return statements
}

var letters = []string{"a", "b", "c", "d", "e"}

// value is a literal.
func (g *generator) value() string {
	switch g.IntN(12) {
	case 0, 1:
		return "NULL"
	case 2, 3, 4:
		return fmt.Sprint(g.IntN(12) - 3)
	case 5:
		return g.pick("1.0", "2.0", "2.5", "-0.0", "0.0", "-1.5", "1e300", "3.0")
	case 6:
		return g.pick("9223372036854775807", "-9223372036854775808", "9223372036854775807.0", "9007199254740993", "9007199254740992.0", "4611686018427387904")
	case 7:
		return g.pick("x''", "x'61'", "x'ff00'", "x'31'")
	case 8:
		return g.pick("CAST(x'ff61' AS TEXT)", "CAST(x'6100' AS TEXT)", "CAST(x'c3' AS TEXT)")
	}
	return g.pick("''", "'a'", "'A'", "'a '", "'b'", "'B'", "'ab'", "'1'", "'2'", "'2.0'", "'1.0'", "' 3'", "'3x'", "'abc'", "'-1'")
}

// scope are the columns that an expression can use.
type genScope []string

// expr is an expression.
func (g *generator) expr(s genScope, depth int) string {
	if depth <= 0 {
		if len(s) > 0 && g.chance(75) {
			return s[g.IntN(len(s))]
		}
		return g.value()
	}
	e := func() string { return g.expr(s, depth-1) }
	switch g.IntN(22) {
	case 0, 1:
		return fmt.Sprintf("(%s %s %s)", e(), g.pick("+", "-", "*", "/", "%", "||", "&", "|", "<<"), e())
	case 2, 3, 4, 5:
		return g.condition(s, depth)
	case 6:
		return fmt.Sprintf("(%s COLLATE %s)", e(), g.pick("NOCASE", "RTRIM", "BINARY"))
	case 7:
		return fmt.Sprintf("CAST(%s AS %s)", e(), g.pick("INTEGER", "TEXT", "REAL", "NUMERIC", "BLOB"))
	case 8:
		return fmt.Sprintf("CASE %s WHEN %s THEN %s WHEN %s THEN %s ELSE %s END", e(), e(), e(), e(), e(), e())
	case 9:
		return fmt.Sprintf("CASE WHEN %s THEN %s END", e(), e())
	case 10:
		return fmt.Sprintf("%s(%s, %s)", g.pick("coalesce", "ifnull", "nullif", "min", "max", "instr"), e(), e())
	case 11:
		return fmt.Sprintf("%s(%s)", g.pick("typeof", "length", "upper", "lower", "quote", "hex", "trim"), e())
	case 12:
		return "(" + g.pick("-", "+", "~", "NOT ") + e() + ")"
	case 13:
		if g.depth > 0 && g.depth < 3 {
			return "(" + g.query(s, 1, true) + ")"
		}
	}
	return e()
}

// condition is an expression that is true or false.
func (g *generator) condition(s genScope, depth int) string {
	e := func() string { return g.expr(s, depth-1) }
	switch g.IntN(16) {
	case 0:
		return fmt.Sprintf("(%s AND %s)", g.condition(s, depth-1), g.condition(s, depth-1))
	case 1:
		return fmt.Sprintf("(%s OR %s)", g.condition(s, depth-1), g.condition(s, depth-1))
	case 2:
		return fmt.Sprintf("(%s %sBETWEEN %s AND %s)", e(), g.pick("", "NOT "), e(), e())
	case 3:
		return fmt.Sprintf("(%s %sIN (%s, %s, %s))", e(), g.pick("", "NOT "), e(), e(), e())
	case 4:
		return fmt.Sprintf("(%s %sIN (%s))", e(), g.pick("", "NOT "), g.value())
	case 5:
		return fmt.Sprintf("(%s %s)", e(), g.pick("IS NULL", "IS NOT NULL", "NOTNULL", "ISNULL", "IS TRUE", "IS NOT FALSE"))
	case 6:
		return fmt.Sprintf("(%s %s %s)", e(), g.pick("LIKE", "GLOB", "NOT LIKE"), g.pick("'a%'", "'_'", "'a*'", "'%b'", e()))
	case 7:
		if g.depth > 0 && g.depth < 3 {
			return fmt.Sprintf("(%s %sIN (%s))", e(), g.pick("", "NOT "), g.query(s, 1, false))
		}
	case 8:
		if g.depth > 0 && g.depth < 3 {
			return fmt.Sprintf("(%sEXISTS (%s))", g.pick("", "NOT "), g.query(s, 1, false))
		}
	case 11:
		if len(s) > 0 { // implies that of a partial index
			c := s[g.IntN(len(s))]
			return "(" + g.pick(c+" IS NOT NULL", c+" > 1", c+" IS NULL", "typeof("+c+") = 'text'", c+" BETWEEN 0 AND 'b'", c+" IN (1, 'a', NULL)") + ")"
		}
	case 10:
		if len(s) > 1 { // of columns that may have indexes
			term := func() string {
				return s[g.IntN(len(s))] + g.pick(" = ", " = ", " = ", " < ", " >= ", " IS ") + g.value()
			}
			text := "(" + term() + " OR " + term()
			if g.chance(30) {
				text += " AND " + term()
			}
			return text + g.pick("", " OR "+term(), " OR "+s[g.IntN(len(s))]+" IN ("+g.value()+", "+g.value()+")") + ")"
		}
	case 9:
		if len(s) > 1 {
			switch row := func() string { return "(" + e() + ", " + e() + ")" }; g.IntN(8) {
			case 0:
				return fmt.Sprintf("(%s %sIN (%s, %s, %s))", row(), g.pick("", "NOT "), row(), row(), row())
			case 1:
				return fmt.Sprintf("(%s %sBETWEEN %s AND %s)", row(), g.pick("", "NOT "), row(), row())
			case 2:
				if g.depth > 0 && g.depth < 3 {
					return fmt.Sprintf("(%s %s (%s))", row(), g.pick("=", "<", ">=", "IS", "<>"), g.query(s, 2, true))
				}
			case 3:
				list := make([]string, 8+g.IntN(4))
				for i := range list {
					list[i] = g.value()
				}
				return fmt.Sprintf("(%s %sIN (%s))", e(), g.pick("", "NOT "), strings.Join(list, ", "))
			}
			return fmt.Sprintf("((%s, %s) %s (%s, %s))", e(), e(), g.pick("=", "<", "<=", ">", "IS", "<>"), e(), e())
		}
	}
	return fmt.Sprintf("(%s %s %s)", e(), g.pick("=", "=", "=", "<", "<=", ">", ">=", "<>", "IS", "IS NOT"), e())
}

// from is a FROM clause, and the columns that it makes.
func (g *generator) from(outer genScope) (text string, s genScope) {
	n := []int{1, 1, 1, 2, 2, 3}[g.IntN(6)]
	for i := range n {
		alias := fmt.Sprintf("%s%d%d", g.pick("p", "q", "r"), g.depth, i)
		var t genTable
		source := ""
		if g.chance(4) {
			t = genTable{columns: letters[:2]}
			source = g.recursive()
		} else if g.depth < 3 && g.chance(15) {
			width := 1 + g.IntN(3)
			t = genTable{columns: letters[:width]}
			inner := g.query(nil, width, false)
			// The columns of a subquery have names only by a common table.
			source = fmt.Sprintf("(WITH w(%s) AS (%s) SELECT * FROM w)", strings.Join(t.columns, ", "), inner)
		} else {
			t = g.tables[g.IntN(len(g.tables))]
			source = t.name
		}
		var own genScope
		for _, c := range t.columns {
			own = append(own, alias+"."+c)
		}
		if t.rowid && g.chance(30) {
			own = append(own, alias+".rowid")
		}
		if i == 0 {
			text = source + " AS " + alias
			s = append(s, own...)
			continue
		}
		join := g.pick(" JOIN ", " JOIN ", ", ", " LEFT JOIN ", " LEFT JOIN ", " CROSS JOIN ", " RIGHT JOIN ", " FULL JOIN ")
		text += join + source + " AS " + alias
		before := s
		s = append(s, own...)
		if join != ", " && g.chance(85) {
			on := fmt.Sprintf("%s %s %s", own[g.IntN(len(own))], g.pick("=", "=", "=", "=", "<", "IS", ">="), before[g.IntN(len(before))])
			if g.chance(30) {
				on = g.condition(s, 1)
			}
			if g.chance(20) {
				on += " AND " + g.condition(s, 1)
			}
			text += " ON " + on
		}
	}
	return text, s
}

// unordered reports whether a source may come in an order of our own: a table WITHOUT ROWID, of
// which we do not use all indexes, or a view, which may read one.
func (g *generator) unordered(from string) bool {
	return slices.ContainsFunc(g.tables, func(t genTable) bool { return !t.rowid && strings.HasPrefix(from, t.name+" ") })
}

// recursive is a source that is a recursive query with two columns: rows of a table that lead to
// others of another.
func (g *generator) recursive() string {
	first, next := g.tables[g.IntN(len(g.tables))], g.tables[g.IntN(len(g.tables))]
	column := func(t genTable) string { return t.columns[g.IntN(len(t.columns))] }
	from := fmt.Sprintf(g.pick("w JOIN %s AS n ON", "%s AS n JOIN w ON", "w, %s AS n WHERE"), next.name)
	where := g.pick(" AND w.b < 2", " AND w.b < 2 AND n."+column(next)+" IS NOT NULL", " AND w.b < 3 AND w.a <> 1")
	return fmt.Sprintf("(WITH RECURSIVE w(a, b) AS (SELECT %s, 0 FROM %s UNION%s SELECT n.%s, w.b + 1 FROM %s n.%s = w.a%s) SELECT * FROM w)",
		column(first), first.name, g.pick("", " ALL"), column(next), from, column(next), where)
}

// core is one SELECT with a number of columns. It has no ORDER BY.
func (g *generator) core(outer genScope, width int) string {
	from, own := g.from(outer)
	s := append(append(genScope(nil), own...), outer...)
	var b strings.Builder
	b.WriteString("SELECT ")
	grouped := g.chance(25)
	if !grouped && g.chance(12) {
		b.WriteString("DISTINCT ")
	}
	var by []string
	if grouped && g.chance(75) {
		for range 1 + g.IntN(2) {
			by = append(by, g.expr(own, g.IntN(2)))
		}
	}
	for i := range width {
		if i > 0 {
			b.WriteString(", ")
		}
		switch {
		case grouped && (len(by) == 0 || g.chance(60)):
			b.WriteString(g.aggregate(own))
		case grouped && len(own) > 0 && (g.chance(80) || strings.Contains(from, " JOIN ") || strings.Contains(from, ", ") || g.unordered(from)): // whose first row is not known
			b.WriteString(by[g.IntN(len(by))])
		case grouped:
			b.WriteString(g.expr(s, 0))
		default:
			b.WriteString(g.expr(s, g.IntN(3)))
		}
	}
	b.WriteString(" FROM " + from)
	if g.chance(55) {
		b.WriteString(" WHERE " + g.condition(s, 1+g.IntN(2)))
		if g.chance(40) {
			b.WriteString(" AND " + g.condition(s, 1))
		}
	}
	for i, e := range by {
		b.WriteString([]string{" GROUP BY ", ", "}[min(i, 1)] + "+" + e)
	}
	if grouped && g.chance(25) {
		b.WriteString(" HAVING " + g.aggregate(own) + g.pick(" > 0", " IS NOT NULL", " <> 1"))
	}
	return b.String()
}

func (g *generator) aggregate(s genScope) string {
	filter := ""
	if g.chance(15) {
		filter = " FILTER (WHERE " + g.condition(s, 1) + ")"
	}
	switch g.IntN(8) {
	case 0:
		return "count(*)" + filter
	case 1:
		return fmt.Sprintf("count(%s%s)%s", g.pick("", "DISTINCT "), g.expr(s, 0), filter)
	case 2:
		return fmt.Sprintf("%s(%s%s)%s", g.pick("sum", "total", "avg"), g.pick("", "DISTINCT "), g.small(s), filter)
	}
	return fmt.Sprintf("%s(%s)%s", g.pick("min", "max", "min", "max", "count"), g.expr(s, g.IntN(2)), filter)
}

// small is a number whose sums do not depend on the order of the rows.
func (g *generator) small(s genScope) string { return "length(quote(" + g.expr(s, 0) + "))" }

// query is a query with a number of columns. If one is set it has at most one row.
func (g *generator) query(outer genScope, width int, one bool) string {
	g.depth++
	defer func() { g.depth-- }()
	if g.chance(6) {
		rows := make([]string, 1+g.IntN(3))
		for i := range rows {
			values := make([]string, width)
			for k := range values {
				values[k] = g.expr(outer, g.IntN(2))
			}
			rows[i] = "(" + strings.Join(values, ", ") + ")"
		}
		if one {
			rows = rows[:1]
		}
		return "VALUES " + strings.Join(rows, ", ")
	}
	text, compound := g.core(outer, width), false
	for g.chance(12) {
		text += " " + g.pick("UNION ALL", "UNION", "INTERSECT", "EXCEPT") + " " + g.core(outer, width)
		compound = true
	}
	if g.ordered = false; !one && !g.chance(30) {
		return text
	}
	// every column decides the order, so that LIMIT takes the same rows
	terms := make([]string, width)
	for i := range terms {
		terms[i] = fmt.Sprint(i+1) + g.pick("", "", "", " DESC", " DESC", " NULLS LAST", " DESC NULLS FIRST")
	}
	full := slices.Clone(terms)
	if compound { // C SQLite fails, or mixes up columns, where a term of a compound comes twice or has COLLATE
		for i := range full {
			full[i] = fmt.Sprint(i+1) + g.pick("", " DESC")
		}
		text += " ORDER BY " + strings.Join(full, ", ")
	}
	if !compound && g.chance(50) {
		text += " ORDER BY " + strings.Join(terms, ", ")
	} else if !compound {
		for i := range width {
			full = append(full, fmt.Sprint(i+1)+" COLLATE BINARY")
		}
		text += " ORDER BY " + strings.Join(full, ", ")
	}
	g.ordered = true
	switch {
	case one:
		text += " LIMIT 1"
	case g.chance(40):
		text += " LIMIT " + g.pick("0", "1", "3", "-1", "5", "'2'", "2.0", "1+1")
		if g.chance(40) {
			text += " OFFSET " + g.pick("0", "1", "2", "-1", "100")
		}
	}
	return text
}
