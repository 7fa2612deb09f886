package ddl

import (
	"fmt"
	"slices"
)

// resolve returns the index of the column of a table that the mention names, Rowid, or none.
func (m *mention) resolve(sql string, t *Table) int {
	name := Unquote(sql[m.start:m.end])
	if i := t.ColumnIndex(name); i >= 0 {
		return i
	}
	if (m.part == partCheck || m.part == partWhere) && !t.WithoutRowid && isRowid(name) {
		return Rowid
	}
	return none
}

// CheckNames returns an error, which matches ErrNoColumn, if an expression in the CREATE TABLE of
// the table names a column that is not there. SQLite opens no database with such a statement. It
// does not look at a statement in which the names of some part are not known.
func (t *Table) CheckNames(create string) error {
	generated := func(c Column) bool { return c.Generated != nil }
	if len(t.Checks) == 0 && !slices.ContainsFunc(t.Columns, generated) {
		return nil
	}
	return checkNames(create, t)
}

// CheckNames does so for the CREATE INDEX of an index of table t, after Resolve.
func (x *Index) CheckNames(create string, t *Table) error {
	computed := func(c IndexedColumn) bool { return c.Column == Expression }
	if x.Where == "" && !slices.ContainsFunc(x.Columns, computed) {
		return nil
	}
	return checkNames(create, t)
}

func checkNames(create string, t *Table) error {
	list, err := mentionsIn(create)
	if err != nil {
		return err
	}
	unknown := func(m mention) bool { return m.kind == mentionUnknown && m.part != partDefault }
	if slices.ContainsFunc(list, unknown) {
		return nil
	}
	for _, m := range list {
		if m.inExpression() && !m.exists(create, t) {
			return noColumnError{&SyntaxError{m.start, fmt.Sprintf("no such column %q", clip(Unquote(create[m.start:m.end])))}}
		}
	}
	return nil
}

// exists reports whether a name in an expression is one of table t, or none but a string in double
// quotes (Q10), TRUE or FALSE.
func (m *mention) exists(sql string, t *Table) bool {
	if m.kind == mentionMember {
		whole := m.part == partCheck || m.part == partWhere
		return whole && EqualFold(Unquote(sql[m.table.start:m.table.end]), t.Name) && m.resolve(sql, t) != none
	}
	return sql[m.start] == '"' || isTruth(sql[m.start:m.end]) || m.resolve(sql, t) != none
}

// Names reports whether an expression in a CREATE TABLE or CREATE INDEX has a name in it, perhaps
// as a string in double quotes, or may have it: in a part whose names are not known.
func Names(create, name string) bool {
	list, err := mentionsIn(create)
	names := func(m mention) bool {
		return m.part != partDefault && (m.kind == mentionUnknown || m.inExpression() && m.is(create, name))
	}
	return err != nil || slices.ContainsFunc(list, names)
}
