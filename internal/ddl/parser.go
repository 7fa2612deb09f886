package ddl

import "fmt"

// A parser reads one statement with one token of lookahead. Methods named after a part of the
// grammar consume it and leave tok at the token after it; on an error they leave it anywhere.
type parser struct {
	sql   string
	tok   token // next token, not consumed yet
	end   int   // end of the token consumed last
	depth int   // operands within operands
	terms int   // terms of all keys and lists so far

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
	p := &parser{sql: sql}
	p.read(0, tokEnd)
	return p, nil
}

// next consumes the lookahead token and returns it.
func (p *parser) next() token {
	t := p.tok
	p.end = t.end
	p.read(t.end, t.kind)
	return t
}

// read makes the token at an offset the lookahead token. The one before it is of the given kind.
func (p *parser) read(i int, before tokenKind) {
	p.tok = scan(p.sql, i)
	switch p.tok.kind {
	case kwFilter, kwOver, kwWindow:
		p.contextual(before)
	}
}

// contextual makes a name of a word that is a keyword only between certain tokens (Q1): ) FILTER (,
// ) OVER (, ) OVER name, WINDOW name AS. It looks at the two tokens behind the word at most, so
// that time stays linear.
func (p *parser) contextual(before tokenKind) {
	after := scan(p.sql, p.tok.end)
	keyword := false
	switch p.tok.kind {
	case kwFilter:
		keyword = before == tokRP && after.kind == tokLP
	case kwOver:
		keyword = before == tokRP && (after.kind == tokLP || after.kind.isContextName())
	case kwWindow:
		keyword = after.kind.isContextName() && scan(p.sql, after.end).kind == kwAs
	}
	if !keyword {
		p.tok.kind = tokID
	}
}

// second returns the kind of the token after the lookahead token.
func (p *parser) second() tokenKind { return scan(p.sql, p.tok.end).kind }

// text returns a token as written.
func (p *parser) text(t token) string { return p.sql[t.start:t.end] }

// since returns the text from an offset to the end of the token consumed last.
func (p *parser) since(start int) string { return p.sql[start:max(start, p.end)] }

// upTo returns the text from an offset to the next token. SQLite stores some statements with the
// space and comments before the semicolon or the end.
func (p *parser) upTo(start int) string { return p.sql[start:p.tok.start] }

// accept consumes a token of the kind, if that is next.
func (p *parser) accept(kind tokenKind) bool {
	if p.tok.kind != kind {
		return false
	}
	p.next()
	return true
}

// expect consumes a token of the kind, or fails and names the token that it wanted.
func (p *parser) expect(kind tokenKind, want string) error {
	if p.accept(kind) {
		return nil
	}
	return p.errorf("%s, want %s", p.found(), want)
}

// isWord reports whether the next token is the word, given in lower case, without quotes. It serves
// for words that are no keywords.
func (p *parser) isWord(word string) bool {
	return p.tok.kind.isID() && EqualFold(p.text(p.tok), word)
}

// errorf makes the error for the next token.
func (p *parser) errorf(format string, args ...any) error {
	return &SyntaxError{p.tok.start, fmt.Sprintf(format, args...)}
}

func (p *parser) unexpected() error { return p.errorf("%s", p.found()) }

// found describes the next token.
func (p *parser) found() string {
	switch p.tok.kind {
	case tokEnd:
		return "unexpected end"
	case tokIllegal:
		return fmt.Sprintf("unrecognized token %q", clip(p.text(p.tok)))
	}
	return fmt.Sprintf("unexpected %q", clip(p.text(p.tok)))
}

// clip shortens text for an error message.
func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}

// name consumes a name and returns it without quotes.
func (p *parser) name(what string) (string, error) {
	if !p.tok.kind.isName() {
		return "", p.errorf("%s, want %s", p.found(), what)
	}
	return Unquote(p.text(p.next())), nil
}

// collation consumes COLLATE and the name of a collation, which must not be a join keyword.
func (p *parser) collation() (string, error) {
	p.next()
	if !p.tok.kind.isID() && p.tok.kind != tokString {
		return "", p.errorf("%s, want a collation", p.found())
	}
	return Unquote(p.text(p.next())), nil
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

// group consumes everything from a parenthesis to the one that closes it.
func (p *parser) group() error {
	open := p.tok.start
	for depth := 0; ; {
		switch p.tok.kind {
		case tokLP:
			depth++
		case tokRP:
			depth--
		case tokIllegal, tokSemi:
			return p.unexpected()
		case tokEnd:
			return &SyntaxError{open, "parenthesis not closed"}
		}
		p.next()
		if depth == 0 {
			return nil
		}
	}
}
