package ddl

import "strings"

// A Drop is a parsed DROP TABLE, DROP INDEX, DROP VIEW or DROP TRIGGER.
type Drop struct {
	Kind     string // "table", "index", "view" or "trigger"
	Name     string
	Schema   string // "main" in DROP TABLE main.t, "" if not given
	IfExists bool
}

// An Other is a statement of a kind that this package does not read.
type Other struct {
	Word string // its first word, or the words that say which kind of ALTER it is, in upper case
}

// A Script is a text of statements with semicolons between them.
type Script struct{ p *parser }

// NewScript returns the script of a text. It returns a *SyntaxError if the text is too long.
func NewScript(sql string) (*Script, error) {
	p, err := newParser(sql)
	return &Script{p}, err
}

// Next parses the next statement: a *Table, *Index, *View, *Trigger, *Drop, *Alter, *RenameTable,
// *RenameColumn or *Other, or nil at the end of the text. An *Other is not read beyond its first
// word, and is the last. It returns a *SyntaxError.
func (s *Script) Next() (any, error) {
	p := s.p
	for p.accept(tokSemi) {
	}
	switch {
	case p.tok.kind == tokEnd:
		return nil, nil
	case p.tok.kind == kwCreate:
		return p.statement()
	case p.isReserved("drop"):
		return p.drop()
	case p.isReserved("alter"):
		return p.alter()
	case p.tok.kind < tokID:
		return nil, p.unexpected()
	}
	return &Other{strings.ToUpper(clip(p.text(p.tok)))}, nil
}

// drop consumes DROP and the rest of the statement.
func (p *parser) drop() (*Drop, error) {
	p.next()
	d := new(Drop)
	switch p.tok.kind {
	case kwTable, kwIndex, kwView, kwTrigger:
		d.Kind = strings.ToLower(p.text(p.next()))
	default:
		return nil, p.errorf("%s, want TABLE, INDEX, VIEW or TRIGGER", p.found())
	}
	if d.IfExists = p.accept(kwIf); d.IfExists {
		if err := p.expect(kwExists, "EXISTS"); err != nil {
			return nil, err
		}
	}
	var err error
	if d.Schema, d.Name, err = p.qualifiedObject(); err != nil {
		return nil, err
	}
	if p.tok.kind != tokEnd && p.tok.kind != tokSemi {
		return nil, p.unexpected()
	}
	return d, nil
}

// qualifiedObject consumes [schema .] name.
func (p *parser) qualifiedObject() (schema, name string, err error) {
	if name, err = p.name("a name"); err == nil && p.accept(tokDot) {
		schema = name
		name, err = p.name("a name")
	}
	return schema, name, err
}
