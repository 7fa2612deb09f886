package machine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A table is a table that both sides have.
type table struct {
	name    string
	sql     string
	columns []column
	alias   int    // the column that is the rowid, or -1
	key     []term // the primary key, if the table is WITHOUT ROWID
	counted bool   // AUTOINCREMENT
	strict  bool
	indexes []index
}

type column struct {
	name      string
	typ       string
	collation string
}

// A term is a column of a key, with the collation that it has there.
type term struct {
	column    int
	collation string
}

// An index is an index that CREATE INDEX made.
type index struct {
	name  string
	terms []term
}

func (t *table) keyed() bool { return t.key != nil }

var types = []string{"", "INT", "INTEGER", "TEXT", "TEXT", "BLOB", "REAL", "NUMERIC", "VARCHAR(20)", "DOUBLE", "DECIMAL(10,5)"}

var strictTypes = []string{"INT", "INTEGER", "REAL", "TEXT", "BLOB", "ANY"}

var collations = []string{"BINARY", "BINARY", "NOCASE", "RTRIM"}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func maybe(r *rand.Rand, oneIn int, s string) string {
	if r.IntN(oneIn) == 0 {
		return s
	}
	return ""
}

// randomTable makes a table of two to seven columns.
func randomTable(r *rand.Rand, name string) *table {
	t := &table{name: name, alias: -1, strict: r.IntN(6) == 0}
	keyed := r.IntN(3) == 0
	if !keyed && r.IntN(2) == 0 {
		t.alias = r.IntN(2)
	}
	t.counted = t.alias >= 0 && r.IntN(3) == 0
	var parts []string
	for i := range 2 + r.IntN(6) {
		c := column{fmt.Sprint("c", i), pick(r, types), pick(r, collations)}
		if t.strict {
			c.typ = pick(r, strictTypes)
		}
		if i == t.alias {
			c.typ = "INTEGER"
			parts = append(parts, c.name+" INTEGER PRIMARY KEY"+map[bool]string{true: " AUTOINCREMENT"}[t.counted])
		} else {
			parts = append(parts, fmt.Sprintf("%s %s COLLATE %s%s%s", c.name, c.typ, c.collation, maybe(r, 6, " NOT NULL"), maybe(r, 5, " UNIQUE")))
		}
		t.columns = append(t.columns, c)
	}
	if r.IntN(6) == 0 {
		list, _ := t.terms(r)
		parts = append(parts, "UNIQUE("+list+")")
	}
	var options []string
	if keyed {
		var list string
		list, t.key = t.terms(r)
		parts = append(parts, "PRIMARY KEY("+list+")")
		if c := t.columns[t.key[0].column]; len(t.key) == 1 && c.typ == "INTEGER" {
			t.key[0].collation = c.collation // SQLite heeds no other where the column could have been the rowid
		}
		options = append(options, "WITHOUT ROWID")
	}
	if t.strict {
		options = append(options, "STRICT")
	}
	t.sql = "CREATE TABLE " + name + "(" + strings.Join(parts, ", ") + ") " + strings.Join(options, ", ")
	return t
}

// terms makes one to three columns of a key.
func (t *table) terms(r *rand.Rand) (list string, key []term) {
	var parts []string
	for _, c := range r.Perm(len(t.columns))[:1+r.IntN(min(3, len(t.columns)))] {
		k := term{c, pick(r, collations)}
		parts = append(parts, fmt.Sprintf("%s COLLATE %s%s", t.columns[c].name, k.collation, maybe(r, 3, " DESC")))
		key = append(key, k)
	}
	return strings.Join(parts, ", "), key
}

// maxTables is how many tables there are at most.
const maxTables = 4

func (m *machine) createTable() error {
	t := randomTable(m.random, fmt.Sprint("t", m.random.IntN(maxTables)))
	_, ok, err := m.both(func() string { return t.sql }, func(s side) (int64, error) { return 0, s.exec(t.sql) })
	if ok {
		m.schema = append(slices.Clone(m.schema), t)
		m.counted = m.counted || t.counted
	}
	return err
}

func (m *machine) dropTable() error {
	name := fmt.Sprint("t", m.random.IntN(maxTables))
	sql := "DROP TABLE " + maybe(m.random, 2, "IF EXISTS ") + name
	_, ok, err := m.both(func() string { return sql }, func(s side) (int64, error) { return 0, s.exec(sql) })
	if ok {
		m.schema = slices.DeleteFunc(slices.Clone(m.schema), func(t *table) bool { return t.name == name })
	}
	return err
}

func (m *machine) createIndex() error {
	t := m.table()
	if t == nil {
		return nil
	}
	list, terms := t.terms(m.random)
	name := fmt.Sprint("i", m.random.IntN(8))
	sql := fmt.Sprintf("CREATE %sINDEX %s ON %s(%s)", maybe(m.random, 3, "UNIQUE "), name, t.name, list)
	_, ok, err := m.both(func() string { return sql }, func(s side) (int64, error) { return 0, s.exec(sql) })
	if ok {
		m.replace(t, func(t *table) { t.indexes = append(slices.Clone(t.indexes), index{name, terms}) })
	}
	return err
}

func (m *machine) dropIndex() error {
	name := fmt.Sprint("i", m.random.IntN(8))
	sql := "DROP INDEX " + name
	_, ok, err := m.both(func() string { return sql }, func(s side) (int64, error) { return 0, s.exec(sql) })
	for _, t := range m.schema {
		if i := slices.IndexFunc(t.indexes, func(x index) bool { return x.name == name }); ok && i >= 0 {
			m.replace(t, func(t *table) { t.indexes = slices.Delete(slices.Clone(t.indexes), i, i+1) })
		}
	}
	return err
}

// replace puts a changed copy in the place of a table.
func (m *machine) replace(t *table, change func(t *table)) {
	m.schema = slices.Clone(m.schema)
	changed := *t
	change(&changed)
	m.schema[slices.Index(m.schema, t)] = &changed
}

// table draws a table, if there are any.
func (m *machine) table() *table {
	if len(m.schema) == 0 {
		return nil
	}
	return pick(m.random, m.schema)
}
