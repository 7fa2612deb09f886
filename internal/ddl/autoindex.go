package ddl

import (
	"strconv"
	"strings"

	"github.com/foliofs/folio/internal/sql/syntax"
)

// An AutoIndex is the index of a UNIQUE or PRIMARY KEY constraint. In sqlite_schema it has a row
// with this name and no SQL.
type AutoIndex struct {
	Name       string // sqlite_autoindex_<table>_<n>
	Columns    []IndexedColumn
	Primary    bool // of the PRIMARY KEY
	OnConflict syntax.Conflict
}

// AutoIndexes returns the indexes that the constraints of the table make, in the order in which
// SQLite makes them, which is that of their rows in sqlite_schema. A constraint with the same
// columns and collations as an earlier one makes none, nor does the PRIMARY KEY when it is the
// rowid. That of a WITHOUT ROWID table is the table itself; it has a number, but is not in the
// result. The result belongs to the table.
func (t *Table) AutoIndexes() []AutoIndex { return t.auto }

// autoIndexes derives them. In a WITHOUT ROWID table, a PRIMARY KEY that would otherwise be an
// alias comes last (Q6). The key of the table is then that of the index that serves the PRIMARY
// KEY, which may be an earlier one (Q7).
func (m *tableMaker) autoIndexes(n *syntax.CreateTable) error {
	t := m.t
	indexes := autoMaker{table: t.Name, bySignature: map[string]int{}}
	var late *Unique
	for i := range t.Uniques {
		u := &t.Uniques[i]
		if u.Primary && m.alias {
			late = u
			continue
		}
		if !indexes.add(u) {
			return &SyntaxError{n.Body.End, "conflicting ON CONFLICT clauses specified"}
		}
	}
	if late != nil && t.WithoutRowid {
		again := *late
		again.Columns = t.PrimaryKey
		if !indexes.add(&again) {
			return &SyntaxError{n.Body.End, "conflicting ON CONFLICT clauses specified"}
		}
	}
	if late != nil {
		t.KeyConflict = late.OnConflict
	}
	if key := indexes.primary(); t.WithoutRowid && key != nil {
		t.PrimaryKey, t.KeyConflict = distinct(key.Columns), key.OnConflict
	}
	t.auto = indexes.indexes(t.WithoutRowid)
	return nil
}

// inherit fills in the collations of terms that were recorded before their column was complete.
func (m *tableMaker) inherit(terms []IndexedColumn) {
	for i := range terms {
		if terms[i].Collation == "" {
			terms[i].Collation = m.t.Columns[terms[i].Column].Collation
		}
	}
}

// An autoMaker numbers indexes and drops those that repeat another.
type autoMaker struct {
	table       string
	list        []AutoIndex
	bySignature map[string]int
}

// add makes the index of a constraint, or finds the one it repeats (Q7). It reports false if their
// ON CONFLICT clauses contradict each other.
func (m *autoMaker) add(u *Unique) bool {
	key := signature(u.Columns)
	i, ok := m.bySignature[key]
	if !ok {
		name := "sqlite_autoindex_" + m.table + "_" + strconv.Itoa(len(m.list)+1)
		m.bySignature[key] = len(m.list)
		m.list = append(m.list, AutoIndex{name, u.Columns, u.Primary, u.OnConflict})
		return true
	}
	x := &m.list[i]
	x.Primary = x.Primary || u.Primary
	if x.OnConflict == syntax.ConflictNone {
		x.OnConflict = u.OnConflict
	}
	return u.OnConflict == syntax.ConflictNone || u.OnConflict == x.OnConflict
}

// primary returns the index of the primary key, or nil.
func (m *autoMaker) primary() *AutoIndex {
	for i := range m.list {
		if m.list[i].Primary {
			return &m.list[i]
		}
	}
	return nil
}

// indexes returns the indexes, without the primary key if that is the table.
func (m *autoMaker) indexes(withoutRowid bool) (list []AutoIndex) {
	for _, x := range m.list {
		if !withoutRowid || !x.Primary {
			list = append(list, x)
		}
	}
	return list
}

// signature is equal for keys of the same columns and collations, whatever their sort orders. It is
// not ambiguous, as no name has a NUL.
func signature(terms []IndexedColumn) string {
	var b strings.Builder
	for i := range terms {
		b.WriteString(termSignature(&terms[i]))
	}
	return b.String()
}

func termSignature(c *IndexedColumn) string {
	return strconv.Itoa(c.Column) + " " + Fold(c.Collation) + "\x00"
}

// distinct drops the terms that repeat the column and collation of an earlier one (Q8).
func distinct(terms []IndexedColumn) []IndexedColumn {
	return appendMissing(nil, terms)
}

// appendMissing appends the terms whose column and collation are not in the list yet.
func appendMissing(list, terms []IndexedColumn) []IndexedColumn {
	seen := make(map[string]bool, len(list)+len(terms))
	for i := range list {
		seen[termSignature(&list[i])] = true
	}
	for i := range terms {
		key := termSignature(&terms[i])
		if !seen[key] {
			seen[key] = true
			list = append(list, terms[i])
		}
	}
	return list
}
