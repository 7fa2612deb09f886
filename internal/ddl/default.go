package ddl

// A Default is the value of a column that an insertion leaves out, and of a column that was added
// to the table after the row was written. A constant is a value, to which the affinity of the
// column has been applied as SQLite applies it to a record that ends before the column. Any other
// expression, for example CURRENT_TIME or a function call, has the kind DefaultExpr and only its
// text; SQLite lets no such column be added to a table that has rows.
type Default struct {
	Kind DefaultKind
	Int  int64   // of DefaultInteger
	Real float64 // of DefaultReal
	Text string  // of DefaultText in UTF-8, and the bytes of DefaultBlob
	Expr string  // as written, as PRAGMA table_info shows it; "" if there is no default
}

// DefaultKind is the kind of a default.
type DefaultKind uint8

// The kinds of defaults.
const (
	DefaultNone DefaultKind = iota // no DEFAULT: the value is NULL
	DefaultNull
	DefaultInteger
	DefaultReal
	DefaultText
	DefaultBlob
	DefaultExpr
)

// columnDefault consumes DEFAULT and a literal with or without a sign, an identifier, or an
// expression in parentheses. SQLite refuses an expression that refers to anything.
func (p *tableParser) columnDefault() (err error) {
	p.next()
	start := p.tok.start
	text := ""
	p.refers = -1
	if p.tok.kind == tokLP {
		before := p.mentions.enter(partDefault)
		text, err = p.parenthesised()
		p.mentions.enter(before)
	} else {
		err = p.defaultTerm()
		text = p.since(start)
	}
	if err != nil {
		return err
	}
	c := p.last()
	if p.refers >= 0 {
		return &SyntaxError{p.refers, "default value is not constant"}
	}
	if c.Generated != nil {
		return &SyntaxError{start, "DEFAULT of a generated column"}
	}
	c.Default = Default{Kind: DefaultExpr, Expr: text}
	return nil
}

// defaultTerm consumes a default that has no parentheses.
func (p *tableParser) defaultTerm() error {
	signed := p.accept(tokPlus) || p.accept(tokMinus)
	switch k := p.tok.kind; {
	case k == tokString:
		p.next()
		return nil
	case k.isLiteral():
		return p.literal()
	case !signed && (k.isID() || k == kwIndexed):
		p.next()
		return nil
	}
	return p.errorf("%s, want a value", p.found())
}
