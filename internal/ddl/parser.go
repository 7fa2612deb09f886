package ddl

// A parser reads one statement. Methods named after a part of the
// grammar consume it and leave tok at the token after it; on an error they leave it anywhere.
type parser struct {
	cursor
	depth int // operands within operands
	terms int // terms of all keys and lists so far

	// refers is the offset of the last part of an expression that refers to a column or a table. A
	// function that wants to know must set it to -1 before.
	refers int

	mentions *mentioner // nil unless the names must be edited
}

// newParser returns a parser at the first token.
func newParser(sql string) (*parser, error) {
	sql = cutNUL(sql)
	if len(sql) > maxText {
		return nil, &SyntaxError{maxText, "statement too long"}
	}
	p := &parser{cursor: cursor{sql: sql}}
	p.read(0, tokEnd)
	return p, nil
}

// object is the name of the object that a statement creates.
type object struct {
	schema, name string
	start        int  // offset of the name
	optional     bool // IF NOT EXISTS
}

// object consumes [IF NOT EXISTS] [schema .] name. The name must not be the bare word IF: SQLite
// would store a statement that it cannot read again.
func (p *parser) object(what string) (o object, err error) {
	if p.accept(kwIf) {
		o.optional = true
		if err = p.expect(kwNot, "NOT"); err != nil {
			return o, err
		}
		if err = p.expect(kwExists, "EXISTS"); err != nil {
			return o, err
		}
	}
	t := p.tok
	if o.name, err = p.name(what); err == nil && p.accept(tokDot) {
		t, o.schema = p.tok, o.name
		o.name, err = p.name(what)
	}
	if err == nil && t.kind == kwIf {
		err = &SyntaxError{t.start, "IF as a name needs quotes"}
	}
	o.start = t.start
	return o, err
}

// names consumes a list of names in parentheses. SQLite lets old schemas have COLLATE and a sort
// order in it, and ignores them.
func (p *parser) names(what string) (list []string, err error) {
	if err = p.expect(tokLP, "("); err != nil {
		return nil, err
	}
	for {
		n, err := p.listName(what)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
		if !p.accept(tokComma) {
			return list, p.expect(tokRP, ") or ,")
		}
	}
}

func (p *parser) listName(what string) (string, error) {
	if err := p.countTerm(); err != nil {
		return "", err
	}
	p.mentions.note(p.tok, mentionName)
	n, err := p.name(what)
	if err == nil && p.tok.kind == kwCollate {
		_, err = p.collation()
	}
	if err == nil {
		p.sortOrder()
	}
	return n, err
}

// countTerm bounds the number of terms that a statement may make us remember.
func (p *parser) countTerm() error {
	if p.terms++; p.terms > maxTerms {
		return p.errorf("too many terms")
	}
	return nil
}

// sortOrder consumes ASC or DESC if present and reports whether it was DESC.
func (p *parser) sortOrder() (desc bool) {
	if p.accept(kwDesc) {
		return true
	}
	p.accept(kwAsc)
	return false
}

// typeName consumes [name ...] [( number [, number] )] and returns its text.
func (p *parser) typeName() (string, error) {
	start := p.tok.start
	if !p.tok.kind.isID() && p.tok.kind != tokString {
		return "", nil
	}
	for p.tok.kind.isID() || p.tok.kind == tokString {
		p.next()
	}
	if p.accept(tokLP) {
		if err := p.typeSize(); err != nil {
			return "", err
		}
	}
	return p.since(start), nil
}

// typeSize consumes the numbers after the name of a type and the closing parenthesis.
func (p *parser) typeSize() error {
	if err := p.signed(); err != nil {
		return err
	}
	if p.accept(tokComma) {
		if err := p.signed(); err != nil {
			return err
		}
	}
	return p.expect(tokRP, ")")
}

// signed consumes a number with or without a sign.
func (p *parser) signed() error {
	if !p.accept(tokPlus) {
		p.accept(tokMinus)
	}
	if p.tok.kind != tokInteger && p.tok.kind != tokFloat {
		return p.errorf("%s, want a number", p.found())
	}
	p.next()
	return nil
}

// A Statement is a *Table, *Index, *View or *Trigger.
type Statement interface {
	// SQL returns the statement as SQLite stores it in sqlite_schema.sql: without TEMP, IF NOT
	// EXISTS, the name of the schema, and whatever follows the statement.
	SQL() string
}
