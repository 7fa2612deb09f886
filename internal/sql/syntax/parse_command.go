package syntax

// explain reads EXPLAIN or EXPLAIN QUERY PLAN, if it is there.
func (p *parser) explain() Explain {
	switch {
	case !p.accept(kwExplain):
		return ExplainNone
	case p.acceptBoth(kwQuery, kwPlan):
		return ExplainQueryPlan
	}
	return ExplainProgram
}

// command reads a statement. Its first token is a keyword, which falls back to no name here (P2).
func (p *parser) command() Statement {
	start := p.tok.start
	switch p.tok.kind {
	case kwSelect, kwValues, kwWith, kwInsert, kwReplace, kwUpdate, kwDelete:
		return p.change(start)
	case kwCreate:
		return p.create(start)
	case kwDrop:
		return p.drop(start)
	case kwAlter:
		return p.alter(start)
	case kwBegin, kwCommit, kwEnd, kwRollback:
		return p.transaction(start)
	case kwSavepoint, kwRelease:
		return p.savepoint(start)
	case kwAttach:
		return p.attach(start)
	case kwDetach:
		p.advance()
		p.accept(kwDatabase)
		n := &Detach{Name: p.expr()}
		n.Span = p.from(start)
		return n
	case kwPragma:
		return p.pragma(start)
	case kwVacuum:
		return p.vacuum(start)
	case kwAnalyze, kwReindex:
		n := &Maintain{Analyze: p.at(kwAnalyze)}
		p.advance()
		if p.tok.kind.isName() {
			n.Name = p.qualified()
		}
		n.Span = p.from(start)
		return n
	}
	p.unexpected()
	return nil
}

// change reads a query or a statement that changes rows, with its WITH.
func (p *parser) change(start int) Statement {
	with := p.with()
	switch p.tok.kind {
	case kwInsert, kwReplace:
		return p.insert(with, start)
	case kwUpdate:
		return p.update(with, start, false)
	case kwDelete:
		return p.remove(with, start, false)
	}
	return p.selectAfter(with, start)
}

func (p *parser) transaction(start int) Statement {
	n := &Transaction{}
	k := p.tok.kind
	p.advance()
	switch k {
	case kwBegin:
		switch p.tok.kind {
		case kwDeferred:
			n.Mode = ModeDeferred
		case kwImmediate:
			n.Mode = ModeImmediate
		case kwExclusive:
			n.Mode = ModeExclusive
		}
		if n.Mode != ModeNone {
			p.advance()
		}
	case kwRollback:
		n.Action = Rollback
	default:
		n.Action = Commit
	}
	if p.accept(kwTransaction) && p.tok.kind.isName() {
		p.advance() // the name of a transaction, which SQLite ignores
	}
	if n.Action == Rollback && p.accept(kwTo) {
		p.accept(kwSavepoint)
		s := &Savepoint{Action: SavepointRollback, Name: p.name()}
		s.Span = p.from(start)
		return s
	}
	n.Span = p.from(start)
	return n
}

func (p *parser) savepoint(start int) Statement {
	n := &Savepoint{}
	if p.accept(kwRelease) {
		n.Action = SavepointRelease
		p.accept(kwSavepoint)
	} else {
		p.advance()
	}
	n.Name = p.name()
	n.Span = p.from(start)
	return n
}

func (p *parser) attach(start int) Statement {
	p.advance()
	p.accept(kwDatabase)
	n := &Attach{File: p.expr()}
	p.expect(kwAs)
	n.As = p.expr()
	if p.accept(kwKey) {
		n.Key = p.expr()
	}
	n.Span = p.from(start)
	return n
}

func (p *parser) vacuum(start int) Statement {
	p.advance()
	n := &Vacuum{}
	if p.tok.kind.isName() {
		n.Schema = p.name()
	}
	if p.accept(kwInto) {
		n.Into = p.expr()
	}
	n.Span = p.from(start)
	return n
}

func (p *parser) pragma(start int) Statement {
	p.advance()
	n := &Pragma{Name: p.qualified()}
	switch {
	case p.accept(tokEqual):
		p.pragmaValue(n)
	case p.accept(tokLeft):
		n.Call = true
		p.pragmaValue(n)
		p.expect(tokRightParen)
	}
	n.Span = p.from(start)
	return n
}

func (p *parser) pragmaValue(n *Pragma) {
	k := p.tok.kind
	switch {
	case k == tokPlus || k == tokMinus:
		p.advance()
		n.Negative = k == tokMinus
		if !p.at(tokInteger) && !p.at(tokFloat) {
			p.unexpected()
			return
		}
	case k == tokInteger, k == tokFloat, k == kwOn, k == kwDelete, k == kwDefault, k.isName():
	default:
		p.unexpected()
		return
	}
	n.Value = p.anyName()
}
