package ddl

// Virtual is the content of a CREATE VIRTUAL TABLE, without the name.
type Virtual struct {
	Module string
	Args   []string // as written, empty ones left out
}

// createVirtual consumes VIRTUAL TABLE and the rest of the statement.
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
	return &Table{Name: o.name, Schema: o.schema, IfNotExists: o.optional, RowidAlias: -1, Virtual: v, body: p.since(o.start)}, nil
}

// moduleArgs consumes arguments up to the closing parenthesis.
func (p *parser) moduleArgs() (args []string, err error) {
	for {
		arg, err := p.moduleArg()
		if err != nil {
			return nil, err
		}
		if arg != "" {
			args = append(args, arg)
		}
		if p.next().kind == tokRP {
			return args, p.countTerm()
		}
	}
}

// moduleArg consumes one argument, leaving the comma or parenthesis after it. A semicolon is like
// any other token here.
func (p *parser) moduleArg() (string, error) {
	start := p.tok.start
	if k := p.tok.kind; k == tokComma || k == tokRP {
		return "", p.countTerm()
	}
	for depth := 0; ; p.next() {
		switch p.tok.kind {
		case tokLP:
			depth++
		case tokRP, tokComma:
			if depth == 0 {
				return p.since(start), p.countTerm()
			}
			if p.tok.kind == tokRP {
				depth--
			}
		case tokIllegal, tokEnd:
			return "", p.unexpected()
		}
	}
}
