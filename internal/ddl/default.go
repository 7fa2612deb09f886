package ddl

// A Default is the value of a column that an insertion leaves out, and of one that was added to the table after the row
// was written. A constant is a value, to which the affinity of the column has been applied; what is not (CURRENT_TIME, a
// function call) has the kind DefaultExpr and only its text.
type Default struct {
	Kind DefaultKind
	Int  int64   // of DefaultInteger
	Real float64 // of DefaultReal
	Text string  // of DefaultText, and the bytes of DefaultBlob
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

// columnDefault consumes DEFAULT and a literal with or without a sign, an identifier, or an expression in parentheses.
func (p *tableParser) columnDefault() (err error) {
	p.next()
	if p.last().Generated != nil {
		return p.errorf("DEFAULT of a generated column")
	}
	start := p.tok.start
	var text string
	if p.tok.kind == tokLP {
		text, _, err = p.parenthesised()
	} else {
		err = p.defaultTerm()
		text = p.since(start)
	}
	p.last().Default = Default{Kind: DefaultExpr, Expr: text}
	return err
}

// defaultTerm consumes a default that has no parentheses.
func (p *tableParser) defaultTerm() error {
	signed := p.accept(tokPlus) || p.accept(tokMinus)
	switch k := p.tok.kind; {
	case k == tokString:
		p.next()
		return nil
	case k == tokInteger, k == tokFloat, k == tokQNumber, k == tokBlob, k == kwNull, k == kwCurrentTime:
		return p.literal()
	case !signed && (k.isID() || k == kwIndexed):
		p.next()
		return nil
	}
	return p.errorf("%s, want a value", p.found())
}

// settle turns a constant into a value.
func (d *Default) settle(a Affinity) {}

func validQNumber(s string) bool { return true }
