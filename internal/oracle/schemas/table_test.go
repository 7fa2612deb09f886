package schemas

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// A table is a random table with what expressions can do in a schema.
type table struct {
	columns   []string
	generated []bool
	virtual   []bool
	keyed     bool // WITHOUT ROWID, by the first column
	alias     bool // the first column is the rowid
	sql       []string
}

var columnTypes = []string{"", "INTEGER", "TEXT", "REAL", "NUMERIC", "BLOB", "TEXT COLLATE NOCASE", "TEXT COLLATE RTRIM", "VARCHAR(10)", "DOUBLE"}

var strictTypes = []string{"INTEGER", "TEXT", "REAL", "BLOB", "ANY", "TEXT COLLATE NOCASE", "INT"}

// randomTable makes a table of the given name with its indexes.
func (g *generator) randomTable(name string) *table {
	t := &table{}
	var defs []string
	strict := g.IntN(6) == 0
	types := columnTypes
	if strict {
		types = strictTypes
	}
	switch g.IntN(3) {
	case 0:
		t.alias = true
		defs = append(defs, "id INTEGER PRIMARY KEY"+g.conflict())
	case 1:
		t.keyed = true
		defs = append(defs, "id "+g.pick("INTEGER", "TEXT", "TEXT COLLATE NOCASE", "BLOB")+" PRIMARY KEY"+g.conflict())
	default:
		defs = append(defs, "id "+types[g.IntN(len(types))])
	}
	t.add("id", false, false)
	for i := range 2 + g.IntN(4) {
		c := fmt.Sprintf("c%d", i)
		t.add(c, false, false)
		defs = append(defs, c+" "+types[g.IntN(len(types))]+g.pick("", "", "", " NOT NULL"+g.conflict(), " DEFAULT 5", " DEFAULT 5 NOT NULL"+g.conflict()))
	}
	plain := t.columns
	for i := range g.IntN(3) {
		c := fmt.Sprintf("g%d", i)
		e := &generator{g.Rand, t.columns}
		kind := g.pick("", "VIRTUAL", "STORED")
		defs = append(defs, fmt.Sprintf("%s %s AS (%s) %s%s", c, types[g.IntN(len(types))], e.expr(1+g.IntN(3)), kind, g.pick("", "", "", " NOT NULL")))
		t.add(c, true, kind != "STORED")
	}
	e := &generator{g.Rand, t.columns}
	for range g.IntN(3) {
		defs = append(defs, g.pick("", "CONSTRAINT named ")+"CHECK ("+t.withRowid(e).loose()+")")
	}
	options := []string{}
	if t.keyed {
		options = append(options, "WITHOUT ROWID")
	}
	if strict {
		options = append(options, "STRICT")
	}
	for range g.IntN(3) {
		defs = append(defs, "UNIQUE ("+g.pick(plain...)+", "+g.pick(plain[1:]...)+")"+g.conflict())
	}
	t.sql = []string{fmt.Sprintf("CREATE TABLE %s(%s) %s", name, strings.Join(defs, ", "), strings.Join(options, ", "))}
	for i := range 1 + g.IntN(3) {
		t.sql = append(t.sql, t.index(fmt.Sprintf("%s_i%d", name, i), name, g.Rand))
	}
	return t
}

// withRowid returns a generator for CHECK and for WHERE, which may refer to the rowid.
func (t *table) withRowid(g *generator) *generator {
	if t.keyed {
		return g
	}
	return &generator{g.Rand, append(slices.Clone(g.columns), "rowid")}
}

// conflict is the clause of a constraint. That of ROLLBACK would end the transaction of C.
func (g *generator) conflict() string {
	return g.pick("", "", "", " ON CONFLICT REPLACE", " ON CONFLICT IGNORE", " ON CONFLICT FAIL", " ON CONFLICT ABORT")
}

func (t *table) add(name string, generated, virtual bool) {
	t.columns = append(t.columns[:len(t.columns):len(t.columns)], name)
	t.generated, t.virtual = append(t.generated, generated), append(t.virtual, virtual)
}

// loose is a condition that many rows meet.
func (g *generator) loose() string {
	x := "(" + g.expr(1+g.IntN(3)) + ")"
	return g.pick(x+" IS NOT FALSE", x+" OR "+g.pick(g.columns...)+" IS NOT NULL", "typeof"+x+" <> 'blob'", "length"+x+" < 9", x, "coalesce("+x+", 1) <> 0")
}

// index makes an index. Some conditions read nothing but the rowid, some terms fail for many
// values.
func (t *table) index(name, table string, random *rand.Rand) string {
	g := &generator{random, t.columns}
	terms := make([]string, 1+g.IntN(3))
	for i := range terms {
		switch terms[i] = g.pick(g.columns...); g.IntN(5) {
		case 0:
			terms[i] = "abs(" + terms[i] + ")"
		case 1, 2:
			terms[i] = "(" + g.expr(1+g.IntN(3)) + ")" + g.pick("", "", " COLLATE NOCASE", " COLLATE RTRIM")
		}
		terms[i] += g.pick("", "", " DESC")
	}
	sql := "CREATE " + g.pick("", "", "UNIQUE ") + "INDEX " + name + " ON " + table + "(" + strings.Join(terms, ", ") + ")"
	switch where := t.withRowid(g); g.IntN(6) {
	case 0, 1:
		sql += " WHERE " + where.expr(1+g.IntN(3))
	case 2:
		only := &generator{random, where.columns[len(where.columns)-1:]}
		sql += " WHERE " + only.expr(1+g.IntN(2))
	}
	return sql
}

// values are what rows are made of.
var values = []any{
	nil, nil, int64(0), int64(1), int64(2), int64(-1), int64(7), int64(1 << 40), int64(math.MaxInt64), int64(math.MinInt64 + 1), int64(math.MinInt64), int64(math.MinInt64), 0.0, math.Copysign(0, -1), 1.0, 1.5, -2.5, 0.1, 1e15, 1e17, 1e300, 49.47, math.Inf(1), 140737488355328.0,
	"", "a", "A", "abc", "ABC", "b ", "b", "1", "1.0", "01", " 12 ", "12abc", "1e2", "-5", ".5", "é", "日本語", "it's", "%", "a*", "9223372036854775808", "long " + strings.Repeat("x", 300),
	[]byte{},
	[]byte("1"), []byte("abc"),
	[]byte{0},
	[]byte{0xff, 0xc3, 0xa9},
	[]byte(strings.Repeat("blob", 100)),
}

func (g *generator) value() any {
	switch g.IntN(4) {
	case 0:
		return int64(g.IntN(20))
	case 1:
		return string(rune('a' + g.IntN(20)))
	}
	return values[g.IntN(len(values))]
}

// row returns values for all columns, nil for generated ones. The first is a key of the given
// range.
func (g *generator) row(t *table, keys int) []any {
	row := make([]any, len(t.columns))
	for i := range row {
		if !t.generated[i] {
			row[i] = g.value()
		}
	}
	switch {
	case t.alias:
		row[0] = nil
	case t.keyed:
		row[0] = fmt.Sprint(g.IntN(keys))
	}
	return row
}

// plain leaves out the generated columns.
func (t *table) plain(row []any) (list []any) {
	for i, v := range row {
		if !t.generated[i] {
			list = append(list, v)
		}
	}
	return list
}

func (t *table) plainColumns() (list []string) {
	for i, c := range t.columns {
		if !t.generated[i] {
			list = append(list, c)
		}
	}
	return list
}
