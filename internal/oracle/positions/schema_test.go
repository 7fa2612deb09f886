package positions

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A table is a random table: id, which is the rowid or a part of the primary key, d, a, b, c, and
// in a child p, the id of a row of its parent.
//
// Column d is always NULL. No index has it, so that C does not read an index in place of the table.
// In a table WITHOUT ROWID it is the first column behind the primary key: C keeps the key of a
// cursor with one column more, and meets a row again whose column there becomes larger.
type table struct {
	name   string
	keyed  bool // WITHOUT ROWID
	child  bool
	create []string
	trees  []tree
}

// A tree is the b-tree of a table or of an index.
type tree struct {
	index  string   // "" for that of the table
	terms  []term   // the order of it
	id     int      // the column of its rows that is the id; -1 for the rowid
	key    []string // of a table WITHOUT ROWID: the columns of the primary key
	unique bool     // it is a unique index
}

// one reports whether a value of the first term is that of one row.
func (x *tree) one() bool { return x.unique && len(x.terms) == 1 }

// A term is a column in an order.
type term struct {
	column  string
	collate string // "" for that of the column
	desc    bool
}

func (t term) String() string {
	s := t.column
	if t.collate != "" {
		s += " COLLATE " + t.collate
	}
	if t.desc {
		s += " DESC"
	}
	return s
}

func join(terms []term) string {
	list := make([]string, len(terms))
	for i, t := range terms {
		list[i] = t.String()
	}
	return strings.Join(list, ", ")
}

// choose returns one of some values.
func choose[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// randomTable makes a table. Its rows refer to those of the parent, if there is one.
func randomTable(r *rand.Rand, name string, parent *table) *table {
	t := &table{name: name, keyed: r.IntN(2) == 0, child: parent != nil && !parent.keyed && r.IntN(2) == 0}
	columns := []string{"id INTEGER PRIMARY KEY", "d", "a INT", "b TEXT COLLATE " + choose(r, "BINARY", "NOCASE", "RTRIM"), "c"}
	own := tree{id: 0, terms: []term{{column: "id"}}}
	if t.keyed {
		columns[0] = "id INT NOT NULL"
		if own = randomKey(r); len(own.terms) > 1 { // else the primary key would be that of UNIQUE
			columns[0] += " UNIQUE"
		}
	}
	if t.child {
		action := choose(r, "CASCADE", "SET NULL", "CASCADE")
		columns = append(columns, fmt.Sprintf("p INT REFERENCES %s (id) ON DELETE %s", parent.name, action))
	}
	suffix := ""
	if t.keyed {
		columns = append(columns, "PRIMARY KEY ("+join(own.terms)+")")
		suffix = " WITHOUT ROWID"
	}
	t.create = []string{fmt.Sprintf("CREATE TABLE %s (%s)%s", name, strings.Join(columns, ", "), suffix)}
	t.trees = []tree{own}
	for i := range r.IntN(4) {
		t.addIndex(r, fmt.Sprintf("%s%d", name, i))
	}
	return t
}

// randomKey makes a primary key of a table WITHOUT ROWID.
func randomKey(r *rand.Rand) tree {
	desc := r.IntN(2) == 0
	terms := choose(r,
		[]term{{column: "id", desc: desc}},
		[]term{{column: "a", desc: desc}, {column: "id"}},
		[]term{{column: "b", desc: desc}, {column: "id", desc: !desc}},
		[]term{{column: "b"}, {column: "a", desc: desc}, {column: "id"}},
	)
	t := tree{terms: terms, id: 0}
	for _, term := range terms {
		t.key = append(t.key, term.column)
	}
	return t
}

// addIndex adds an index on random columns.
func (t *table) addIndex(r *rand.Rand, name string) {
	desc := r.IntN(2) == 0
	terms := choose(r,
		[]term{{column: "a", desc: desc}},
		[]term{{column: "b", desc: desc}},
		[]term{{column: "b", collate: choose(r, "NOCASE", "RTRIM", "BINARY"), desc: desc}, {column: "a"}},
		[]term{{column: "a"}, {column: "b", desc: desc}},
		[]term{{column: "c", desc: desc}},
		[]term{{column: "a", desc: desc}, {column: "c"}},
	)
	unique := ""
	if r.IntN(4) == 0 {
		unique = "UNIQUE "
	}
	t.create = append(t.create, fmt.Sprintf("CREATE %sINDEX %s ON %s (%s)", unique, name, t.name, join(terms)))
	t.trees = append(t.trees, tree{index: name, terms: terms, id: -1, unique: unique != ""})
}

// query returns the statement of C that iterates over a tree.
func (t *table) query(x *tree, where string, back bool) string {
	columns, by := "id, d", " NOT INDEXED"
	if x.index != "" {
		columns, by = "id", " INDEXED BY "+x.index
	}
	order := make([]term, len(x.terms))
	for i, term := range x.terms {
		order[i] = term
		order[i].desc = term.desc != back
	}
	return "SELECT " + columns + " FROM " + t.name + by + where + " ORDER BY " + join(order)
}

// A row is the values of a table: id, d, a, b, c and perhaps p.
type row []any

// randomRow makes the values of a row.
func randomRow(r *rand.Rand, t *table, id int64) row {
	v := row{id, nil, randomValue(r, "a"), randomValue(r, "b"), randomValue(r, "c")}
	if t.child {
		v = append(v, randomValue(r, "p"))
	}
	return v
}

// randomValue makes a value of a column.
func randomValue(r *rand.Rand, column string) any {
	if r.IntN(12) == 0 {
		return nil
	}
	switch column {
	case "a":
		return int64(r.IntN(9))
	case "p":
		return int64(r.IntN(60) * 10)
	case "b":
		s := choose(r, "a", "A", "ab", "aB", "b", "B", "b ", "c", "C  ", "") + choose(r, "", "", "x", "X", " ")
		if r.IntN(6) == 0 {
			s += strings.Repeat(choose(r, "y", "Y"), 50+r.IntN(1500))
		}
		return s
	}
	switch r.IntN(6) {
	case 0:
		return r.Int64N(1 << r.IntN(50))
	case 1:
		return r.Float64()
	case 2:
		return strings.Repeat(choose(r, "p", "q"), r.IntN(300))
	case 3:
		b := make([]byte, 1+r.IntN(2000))
		b[0] = byte(r.IntN(4))
		return b
	}
	b := make([]byte, 1+r.IntN(80))
	b[0] = byte(r.IntN(256))
	return b
}
