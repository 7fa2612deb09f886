package ddl

import "errors"

// ErrHides says that the definition of a new column would hide a part of the table.
var ErrHides = errors.New("a comment at the end hides a constraint of the table")

// AddColumn returns a CREATE TABLE with one more column, and the table that it declares. It returns
// a *SyntaxError if the result is no CREATE TABLE, and ErrHides if a comment at the end of the
// definition hides a constraint. SQLite would lose the constraint.
func AddColumn(create, definition string) (sql string, t *Table, err error) {
	old, err := ParseTable(create)
	if err != nil {
		return "", nil, err
	}
	if old.Virtual != nil {
		return "", nil, &SyntaxError{0, "a virtual table"}
	}
	sql = create[:old.end] + ", " + definition + create[old.end:]
	if t, err = ParseTable(sql); err != nil {
		return "", nil, err
	}
	if len(t.Columns) != len(old.Columns)+1 || len(t.Uniques) < len(old.Uniques) || len(t.Checks) < len(old.Checks) ||
		len(t.ForeignKeys) < len(old.ForeignKeys) || t.WithoutRowid != old.WithoutRowid || t.Strict != old.Strict {
		return "", nil, ErrHides
	}
	return sql, t, nil
}
