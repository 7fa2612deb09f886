package ddl

import (
	"fmt"

	"github.com/foliofs/folio/internal/sql/syntax"
	"github.com/foliofs/folio/internal/sql/value"
)

// A Column is a column of a table.
type Column struct {
	Name string

	// Type is the declared type as PRAGMA table_info shows it: a standard type in upper case, any
	// other as written, with its comments, "" for none.
	Type     string
	Standard StandardType
	Affinity value.Affinity // of Type (see value.AffinityOf), except that STRICT tables store ANY as it is, and for an empty type in quotes (Q4)

	NotNull         bool // also if a PRIMARY KEY implies it
	NotNullConflict syntax.Conflict
	PrimaryKey      bool   // part of the PRIMARY KEY
	Collation       string // as written; "BINARY" if none was
	Default         Default
	Generated       *Generated // nil for an ordinary column
}

// Generated says how a generated column comes about.
type Generated struct {
	Expr   string
	Stored bool // in the record; a virtual column is not
}

// Virtual reports whether the column is computed when read: no record holds it.
func (c *Column) Virtual() bool { return c.Generated != nil && !c.Generated.Stored }

// binary is the collation of columns that declare none.
const binary = "BINARY"

// column adds a column.
func (m *tableMaker) column(d *syntax.ColumnDef) error {
	if len(m.t.Columns) == maxColumns {
		return &SyntaxError{d.Start, "too many columns on " + clip(m.t.Name)}
	}
	key := Fold(d.Name.Text)
	if _, ok := m.t.byName[key]; ok {
		return &SyntaxError{d.Start, "duplicate column name: " + clip(d.Name.Text)}
	}
	m.t.byName[key] = len(m.t.Columns)
	c := Column{Name: d.Name.Text, Collation: binary}
	c.setType(d.TypeText)
	m.t.Columns = append(m.t.Columns, c)
	m.name = ""
	for i := range d.Constraints {
		if err := m.columnConstraint(&d.Constraints[i]); err != nil {
			return err
		}
	}
	return nil
}

// last returns the column under construction.
func (m *tableMaker) last() *Column { return &m.t.Columns[len(m.t.Columns)-1] }

// setType sets the declared type, if there is one.
func (c *Column) setType(text string) {
	text = trimGenerated(text)
	if text == "" {
		return
	}
	if len(text) >= 3 {
		text = unquoteType(text)
		c.Standard = standardType(text)
	}
	if c.Standard != Custom {
		c.Type, c.Affinity = standardTypes[c.Standard].name, standardTypes[c.Standard].affinity
		return
	}
	c.Type, c.Affinity = Unquote(text), AffinityOf(text)
}

// unquoteType takes the quotes off a type that is one quoted word (Q4). SQLite looks at the first
// byte only, so [x] y becomes "x] ", while a type with any other quote in it is left for Unquote,
// which keeps the first word alone.
func unquoteType(text string) string {
	if !isQuote(text[0]) {
		return text
	}
	inner := text[1 : len(text)-1]
	for i := range len(inner) {
		if isQuote(inner[i]) {
			return text
		}
	}
	return inner
}

// trimGenerated removes the words GENERATED ALWAYS from the end of a type (Q3). It looks at the
// text, not at its tokens, and drops ALWAYS from any type that is longer than the two words, as
// SQLite does.
func trimGenerated(text string) string {
	if len(text) < len("GENERATEDALWAYS")+1 {
		return text
	}
	head, ok := cutSuffixFold(text, "always")
	if !ok {
		return text
	}
	head = trimSpaceRight(head)
	if before, ok := cutSuffixFold(head, "generated"); ok {
		return trimSpaceRight(before)
	}
	return head
}

// columnConstraint applies a constraint of the column under construction.
func (m *tableMaker) columnConstraint(c *syntax.Constraint) error {
	switch c.Kind {
	case syntax.ConstraintName:
		m.name = c.Name.Text
	case syntax.ConstraintPrimaryKey:
		return m.setPrimaryKey(c, m.lastTerm(c.Order), c.Order == syntax.OrderDesc)
	case syntax.ConstraintUnique:
		m.addUnique(c, m.lastTerm(syntax.OrderNone))
		return m.countTerm(c.Start)
	case syntax.ConstraintNotNull:
		m.last().NotNull, m.last().NotNullConflict = true, c.Conflict
	case syntax.ConstraintCheck:
		return m.check(c)
	case syntax.ConstraintDefault:
		return m.setDefault(c)
	case syntax.ConstraintCollate:
		m.last().Collation = collation(c.Name.Text)
	case syntax.ConstraintForeign:
		return m.addForeignKey(c, []int{len(m.t.Columns) - 1})
	case syntax.ConstraintDeferrable:
		m.deferrable(c)
	case syntax.ConstraintGenerated:
		return m.generated(c)
	}
	return nil
}

// errGenerated is SQLite's message for a generated column that is none.
func errGenerated(column string) string {
	return fmt.Sprintf("error in generated column %q", clip(column))
}

// generated makes a generated column of the column under construction.
func (m *tableMaker) generated(c *syntax.Constraint) error {
	column := m.last()
	if column.Generated != nil || column.Default.Kind != DefaultNone {
		return &SyntaxError{c.Start, errGenerated(column.Name)}
	}
	column.Generated = &Generated{Expr: trimSpace(c.Text.Of(m.sql))}
	if c.Name.IsZero() {
		return nil
	}
	stored := EqualFold(c.Name.Of(m.sql), "stored")
	if !stored && !EqualFold(c.Name.Of(m.sql), "virtual") {
		return &SyntaxError{c.Name.Start, errGenerated(column.Name)}
	}
	column.Generated.Stored = stored
	return nil
}
