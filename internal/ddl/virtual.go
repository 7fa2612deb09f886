package ddl

// Virtual is what CREATE VIRTUAL TABLE says besides the name.
type Virtual struct {
	Module string
	Args   []string // as written, empty ones left out
}

// createVirtual consumes VIRTUAL TABLE and what follows.
func (p *parser) createVirtual() (Statement, error) {
	p.next()
	if err := p.expect(kwTable, "TABLE"); err != nil {
		return nil, err
	}
	o, err := p.object("the name of a table")
	if err != nil {
		return nil, err
	}
	if err = p.expect(kwUsing, "USING"); err != nil {
		return nil, err
	}
	v := &Virtual{}
	if v.Module, err = p.name("the name of a module"); err != nil {
		return nil, err
	}
	if p.accept(tokLP) {
		if v.Args, err = p.moduleArgs(); err != nil {
			return nil, err
		}
	}
	return &Table{Name: o.name, Schema: o.schema, RowidAlias: -1, Virtual: v, body: p.since(o.start)}, nil
}

// moduleArgs consumes arguments, which are any tokens with balanced parentheses, and the closing parenthesis.
func (p *parser) moduleArgs() (args []string, err error) {
	start := p.tok.start
	for {
		switch p.tok.kind {
		case tokLP:
			if err = p.group(); err != nil {
				return nil, err
			}
			continue
		case tokIllegal, tokEnd:
			return nil, p.unexpected()
		case tokComma, tokRP:
			if err = p.countTerm(); err != nil {
				return nil, err
			}
			if p.tok.start > start {
				args = append(args, p.since(start))
			}
			if p.next().kind == tokRP {
				return args, nil
			}
			start = p.tok.start
			continue
		}
		p.next()
	}
}
