package ddl

import "fmt"

// A Column is a column of a table.
type Column struct {
	Name string

	// Type is the declared type as PRAGMA table_info shows it: a standard type in upper case, any
	// other as written, with its comments, "" for none.
	Type     string
	Standard StandardType
	Affinity Affinity // of Type (see scanAffinity), except that STRICT tables store ANY as it is, and for an empty type in quotes (Q4)

	NotNull         bool // also if a PRIMARY KEY implies it
	NotNullConflict Conflict
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

// column consumes a column definition.
func (p *tableParser) column() error {
	at := p.tok
	p.mentions.noteColumn(at, len(p.t.Columns))
	if len(p.t.Columns) == maxColumns {
		return p.errorf("too many columns")
	}
	name, err := p.parser.name("the name of a column")
	if err != nil {
		return err
	}
	key := Fold(name)
	if _, ok := p.t.byName[key]; ok {
		return &SyntaxError{at.start, fmt.Sprintf("duplicate column %q", clip(name))}
	}
	c := Column{Name: name, Collation: binary}
	if err := p.columnType(&c); err != nil {
		return err
	}
	p.t.byName[key] = len(p.t.Columns)
	p.t.Columns = append(p.t.Columns, c)
	p.name = ""
	return p.columnConstraints()
}

// last returns the column under construction.
func (p *tableParser) last() *Column { return &p.t.Columns[len(p.t.Columns)-1] }

// columnType consumes the declared type, if there is one.
func (p *tableParser) columnType(c *Column) error {
	text, err := p.typeName()
	if err != nil {
		return err
	}
	text = trimGenerated(text)
	if text == "" {
		return nil
	}
	if len(text) >= 3 {
		text = unquoteType(text)
		c.Standard = standardType(text)
	}
	if c.Standard != Custom {
		c.Type, c.Affinity = standardTypes[c.Standard].name, standardTypes[c.Standard].affinity
		return nil
	}
	c.Type, c.Affinity = Unquote(text), scanAffinity(Unquote(text))
	return nil
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

// columnConstraints consumes the constraints of a column.
func (p *tableParser) columnConstraints() error {
	for {
		more, err := p.columnConstraint()
		if err != nil || !more {
			return err
		}
	}
}

// columnConstraint consumes one constraint and reports whether there was one.
func (p *tableParser) columnConstraint() (bool, error) {
	switch p.tok.kind {
	case kwConstraint:
		return true, p.constraintName()
	case kwDefault:
		return true, p.columnDefault()
	case kwNull:
		p.next()
		_, err := p.onConflict()
		return true, err
	case kwNot:
		return true, p.notNull()
	case kwPrimary:
		return true, p.columnPrimaryKey()
	case kwUnique:
		return true, p.columnUnique()
	case kwCheck:
		return true, p.check()
	case kwReferences:
		return true, p.columnReferences()
	case kwDeferrable:
		return true, p.deferrable(false)
	case kwCollate:
		return true, p.columnCollate()
	case kwGenerated, kwAs:
		return true, p.columnGenerated()
	}
	return false, nil
}

// notNull consumes NOT NULL, or NOT DEFERRABLE.
func (p *tableParser) notNull() (err error) {
	p.next()
	if p.tok.kind == kwDeferrable {
		return p.deferrable(true)
	}
	if err = p.expect(kwNull, "NULL"); err != nil {
		return err
	}
	c := p.last()
	c.NotNull = true
	c.NotNullConflict, err = p.onConflict()
	return err
}

func (p *tableParser) columnCollate() (err error) {
	p.last().Collation, err = p.collation()
	return err
}

// columnGenerated consumes [GENERATED ALWAYS] AS ( expr ) [VIRTUAL | STORED].
func (p *tableParser) columnGenerated() error {
	if p.accept(kwGenerated) {
		if err := p.expect(kwAlways, "ALWAYS"); err != nil {
			return err
		}
	}
	if err := p.expect(kwAs, "AS"); err != nil {
		return err
	}
	before := p.mentions.enter(partGenerated)
	text, err := p.parenthesised()
	p.mentions.enter(before)
	if err != nil {
		return err
	}
	c, g := p.last(), &Generated{Expr: text}
	if c.Generated != nil || c.Default.Kind != DefaultNone {
		return p.errorf("column %q is generated and has a default, or is generated twice", clip(c.Name))
	}
	if p.tok.kind.isID() {
		if g.Stored = p.isWord("stored"); !g.Stored && !p.isWord("virtual") {
			return p.errorf("%s, want VIRTUAL or STORED", p.found())
		}
		p.next()
	}
	c.Generated = g
	return nil
}
