package ddl

import (
	"errors"

	"github.com/foliofs/folio/internal/sql/syntax"
)

// ErrHides says that the definition of a new column would hide a part of the table.
var ErrHides = errors.New("a comment at the end hides a constraint of the table")

// AddColumn returns a CREATE TABLE with the column of an ALTER TABLE ADD COLUMN, and the table that
// it declares. It returns a *SyntaxError if the result is no CREATE TABLE, and ErrHides if a
// comment at the end of the definition hides a constraint or takes one from the table. SQLite would
// lose the constraint.
func AddColumn(create string, c *Change, a *syntax.Alter) (sql string, t *Table, err error) {
	old, err := ParseTable(create)
	if err != nil {
		return "", nil, err
	}
	if old.Virtual != nil {
		return "", nil, &SyntaxError{0, "a virtual table"}
	}
	sql = create[:old.end] + ", " + c.Definition(a) + create[old.end:]
	if t, err = ParseTable(sql); err != nil {
		return "", nil, err
	}
	uniques, checks, foreigns := len(old.Uniques), len(old.Checks), len(old.ForeignKeys)
	for _, c := range a.Definition.Constraints {
		switch c.Kind {
		case syntax.ConstraintUnique, syntax.ConstraintPrimaryKey:
			uniques++
		case syntax.ConstraintCheck:
			checks++
		case syntax.ConstraintForeign:
			foreigns++
		}
	}
	if len(t.Columns) != len(old.Columns)+1 || len(t.Uniques) != uniques || len(t.Checks) != checks ||
		len(t.ForeignKeys) != foreigns || t.WithoutRowid != old.WithoutRowid || t.Strict != old.Strict {
		return "", nil, ErrHides
	}
	return sql, t, nil
}
