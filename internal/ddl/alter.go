package ddl

import (
	"errors"
	"strings"
)

// An Alter is a parsed ALTER TABLE ADD COLUMN.
type Alter struct {
	Table      string
	Schema     string // "main" in ALTER TABLE main.t, "" if not given
	Definition string // of the column, as SQLite stores it
}

// alter consumes ALTER and the rest of the statement. It returns an *Alter, a *RenameTable, a
// *RenameColumn, or an *Other for a kind of ALTER that this package does not read.
func (p *parser) alter() (any, error) {
	p.next()
	if err := p.expect(kwTable, "TABLE"); err != nil {
		return nil, err
	}
	a := new(Alter)
	var err error
	if a.Schema, a.Table, err = p.qualifiedObject(); err != nil {
		return nil, err
	}
	switch {
	case p.isReserved("add"):
		return p.alterAdd(a)
	case p.isWord("rename"):
		return p.alterRename(a)
	case p.isWord("drop"), p.isReserved("drop"), p.isReserved("alter"):
		return &Other{"ALTER TABLE " + strings.ToUpper(p.text(p.tok))}, nil
	}
	return nil, p.errorf("%s, want ADD, RENAME or DROP", p.found())
}

// alterAdd consumes ADD [COLUMN] and the definition of a column.
func (p *parser) alterAdd(a *Alter) (any, error) {
	p.next()
	if p.tok.kind == kwConstraint || p.tok.kind == kwCheck {
		return &Other{"ALTER TABLE ADD " + strings.ToUpper(p.text(p.tok))}, nil
	}
	p.acceptColumn()
	start := p.tok.start
	tp := &tableParser{parser: p, t: &Table{RowidAlias: -1, byName: map[string]int{}}}
	if err := tp.column(); err != nil {
		return nil, err
	}
	if err := p.ended(); err != nil {
		return nil, err
	}
	a.Definition = strings.TrimRight(p.sql[start:p.tok.end], "; \t\n\v\f\r")
	return a, nil
}

// acceptColumn consumes the word COLUMN, if that is next.
func (p *parser) acceptColumn() {
	if p.isWord("column") {
		p.next()
	}
}

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
