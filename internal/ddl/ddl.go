package ddl

// Parse parses one CREATE statement of any kind. Unlike the functions for one kind, which stop at
// the semicolon as SQLite does, it returns an error for a second statement after the first. It
// returns a *SyntaxError.
func Parse(sql string) (Statement, error) {
	p, err := newParser(sql)
	if err != nil {
		return nil, err
	}
	s, err := p.statement()
	if err != nil {
		return nil, err
	}
	return s, p.only()
}

// ParseFirst is Parse for a text of which SQLite reads the first statement only, such as one in
// sqlite_schema. It returns a *SyntaxError.
func ParseFirst(sql string) (Statement, error) {
	p, err := newParser(sql)
	if err != nil {
		return nil, err
	}
	return p.statement()
}

// ParseTable parses CREATE TABLE or CREATE VIRTUAL TABLE. It returns a *SyntaxError.
func ParseTable(sql string) (*Table, error) {
	return parseAs[*Table](sql, "CREATE TABLE")
}

// ParseIndex parses CREATE INDEX. The columns of the result are names until Resolve. It returns a
// *SyntaxError.
func ParseIndex(sql string) (*Index, error) {
	return parseAs[*Index](sql, "CREATE INDEX")
}

// ParseView parses CREATE VIEW. It returns a *SyntaxError.
func ParseView(sql string) (*View, error) {
	return parseAs[*View](sql, "CREATE VIEW")
}

// ParseTrigger parses CREATE TRIGGER. It returns a *SyntaxError.
func ParseTrigger(sql string) (*Trigger, error) {
	return parseAs[*Trigger](sql, "CREATE TRIGGER")
}

func parseAs[S Statement](sql, kind string) (S, error) {
	var none S
	p, err := newParser(sql)
	if err != nil {
		return none, err
	}
	s, err := p.statement()
	if err != nil {
		return none, err
	}
	as, ok := s.(S)
	if !ok {
		return none, &SyntaxError{0, "not a " + kind + " statement"}
	}
	return as, nil
}

// statement parses up to and including the end of the first statement.
func (p *parser) statement() (Statement, error) {
	s, err := p.create()
	if err != nil {
		return nil, err
	}
	if p.tok.kind != tokEnd && p.tok.kind != tokSemi {
		return nil, p.unexpected()
	}
	return s, nil
}

// create parses the words up to the kind of object and leaves the rest to it.
func (p *parser) create() (Statement, error) {
	for p.accept(tokSemi) {
	}
	if err := p.expect(kwCreate, "CREATE"); err != nil {
		return nil, err
	}
	if p.accept(kwUnique) {
		if p.tok.kind != kwIndex {
			return nil, p.unexpected()
		}
		return p.createIndex(true)
	}
	temp := p.accept(kwTemp)
	switch {
	case p.tok.kind == kwTable:
		return p.createTable(temp)
	case p.tok.kind == kwView:
		return p.createView(temp)
	case p.tok.kind == kwTrigger:
		return p.createTrigger(temp)
	case p.tok.kind == kwVirtual && !temp:
		return p.createVirtual()
	case p.tok.kind == kwIndex && !temp:
		return p.createIndex(false)
	}
	return nil, p.unexpected()
}
