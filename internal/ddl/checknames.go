package ddl

import (
	"slices"
)

// resolve returns the index of the column of a table that the mention names, Rowid, or none.
func (m *mention) resolve(t *Table) int {
	if i := t.ColumnIndex(m.Text); i >= 0 {
		return i
	}
	if (m.part == partCheck || m.part == partWhere) && !t.WithoutRowid && isRowid(m.Text) {
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
	unknown := func(m mention) bool { return m.kind == mentionUnknown }
	if slices.ContainsFunc(list, unknown) {
		return nil
	}
	for _, m := range list {
		if m.inExpression() && !m.exists(t) {
			return noColumnError{&SyntaxError{m.Start, "no such column: " + clip(m.Text)}}
		}
	}
	return nil
}

// exists reports whether a name in an expression is one of table t, or none but a string in double
// quotes (Q10), TRUE or FALSE.
func (m *mention) exists(t *Table) bool {
	if m.kind == mentionMember {
		whole := m.part == partCheck || m.part == partWhere
		return whole && EqualFold(m.table.Text, t.Name) && m.resolve(t) != none
	}
	return m.Quote == '"' || m.isTruth() || m.resolve(t) != none
}

// Names reports whether an expression in a CREATE TABLE or CREATE INDEX has a name in it, perhaps
// as a string in double quotes, or may have it: in a part whose names are not known.
func Names(create, name string) bool {
	list, err := mentionsIn(create)
	names := func(m mention) bool { return m.kind == mentionUnknown || m.inExpression() && m.is(name) }
	return err != nil || slices.ContainsFunc(list, names)
}
