package syntax

// create reads a CREATE.
func (p *parser) create(start int) Statement {
	p.advance()
	temp := p.accept(kwTemp)
	switch {
	case p.at(kwTable):
		return p.createTable(start, temp)
	case p.at(kwView):
		return p.createView(start, temp)
	case p.at(kwTrigger):
		return p.createTrigger(start, temp)
	case !temp && (p.at(kwUnique) || p.at(kwIndex)):
		return p.createIndex(start)
	case !temp && p.at(kwVirtual):
		return p.createVirtual(start)
	}
	p.unexpected()
	return nil
}

// ifNotExists reads IF NOT EXISTS, if it is there.
func (p *parser) ifNotExists() bool {
	if !p.acceptBoth(kwIf, kwNot) {
		return false
	}
	p.expect(kwExists)
	return true
}

func (p *parser) createTable(start int, temp bool) Statement {
	p.advance()
	n := &CreateTable{Temp: temp, IfNotExists: p.ifNotExists(), Name: p.qualified()}
	body := p.tok.start
	if p.accept(kwAs) {
		body = p.tok.start
		n.Query = p.query()
		n.Body = p.from(body)
	} else {
		p.expect(tokLeft)
		p.columnDefs(n)
		p.expect(tokRightParen)
		n.Body = p.from(body)
		p.tableOptions(n)
	}
	n.Span = p.from(start)
	return n
}

// columnDefs reads the columns and constraints of a table. A comma in front of a constraint is
// required only for the first.
func (p *parser) columnDefs(n *CreateTable) {
	n.Columns = make([]ColumnDef, 0, 4)
	next := func() bool {
		n.Columns = append(n.Columns, p.columnDef())
		n.ColumnsEnd = p.tok.start
		return p.accept(tokComma)
	}
	comma := next()
	for comma && p.tok.kind.isName() {
		comma = next()
	}
	if !comma {
		return
	}
	for {
		c, ok := p.tableConstraint()
		if !ok {
			if comma {
				p.unexpected()
			}
			return
		}
		c.Comma = comma
		n.Constraints = append(n.Constraints, c)
		comma = p.accept(tokComma)
	}
}

// tableOptions reads the options of a table. The list may begin with a comma, as in SQLite.
func (p *parser) tableOptions(n *CreateTable) {
	for comma := false; ; {
		switch {
		case p.accept(kwWithout):
			o := p.name()
			if fold(o.Of(p.sql)) != "rowid" {
				p.raise("unknown table option: "+o.Of(p.sql), -1)
			}
			n.WithoutRowid = true
		case p.tok.kind.isName():
			o := p.name()
			if fold(o.Of(p.sql)) != "strict" {
				p.raise("unknown table option: "+o.Of(p.sql), -1)
			}
			n.Strict = true
		case comma:
			p.unexpected()
			return
		}
		if comma = p.accept(tokComma); !comma {
			return
		}
	}
}

func (p *parser) createView(start int, temp bool) Statement {
	p.advance()
	n := &CreateView{Temp: temp, IfNotExists: p.ifNotExists(), Name: p.qualified(), Columns: p.nameTerms()}
	p.expect(kwAs)
	query := p.tok.start
	if p.stored {
		p.skipQuery()
	} else {
		n.Query = p.query()
	}
	n.Text, n.Span = p.from(query), p.from(start)
	return n
}

// skipQuery reads the tokens of a query.
func (p *parser) skipQuery() {
	if !p.tok.kind.startsSelect() {
		p.unexpected()
	}
	for depth := 0; p.err == nil && (depth > 0 || !p.at(tokEnd) && !p.at(tokSemicolon)); p.advance() {
		switch {
		case p.at(tokLeft):
			depth++
		case p.at(tokRightParen):
			depth--
		}
		if depth < 0 || depth > 0 && (p.at(tokEnd) || p.at(tokSemicolon)) {
			p.unexpected()
		}
	}
}

func (p *parser) createIndex(start int) Statement {
	n := &CreateIndex{Unique: p.accept(kwUnique)}
	p.expect(kwIndex)
	n.IfNotExists = p.ifNotExists()
	n.Name = p.qualified()
	p.expect(kwOn)
	n.Table = p.name()
	p.expect(tokLeft)
	n.Terms = p.terms()
	p.expect(tokRightParen)
	if p.accept(kwWhere) {
		where := p.tok.start
		n.Where = p.right(levelOr, 1)
		n.WhereText = p.from(where)
	}
	n.Span = p.from(start)
	return n
}

func (p *parser) createVirtual(start int) Statement {
	p.advance()
	p.expect(kwTable)
	n := &CreateVirtual{IfNotExists: p.ifNotExists(), Name: p.qualified()}
	p.expect(kwUsing)
	n.Module = p.name()
	if p.accept(tokLeft) {
		n.Parens = true
		p.moduleArguments(n)
		p.expect(tokRightParen)
	}
	n.Span = p.from(start)
	return n
}

// moduleArguments reads the arguments of a module: any tokens, with parentheses in pairs.
func (p *parser) moduleArguments(n *CreateVirtual) {
	arg, depth := Span{p.tok.start, p.tok.start}, 0
	add := func() {
		n.Arguments = append(n.Arguments, arg)
		n.Texts = append(n.Texts, arg.Of(p.sql))
	}
	for p.err == nil && !p.at(tokEnd) {
		switch {
		case p.at(tokLeft):
			depth++
		case p.at(tokRightParen) && depth == 0:
			add()
			return
		case p.at(tokRightParen):
			depth--
		case p.at(tokComma) && depth == 0:
			add()
			p.advance()
			arg = Span{p.tok.start, p.tok.start}
			continue
		}
		arg.End = p.tok.end
		p.advance()
	}
}

func (p *parser) createTrigger(start int, temp bool) Statement {
	p.advance()
	n := &CreateTrigger{Temp: temp, IfNotExists: p.ifNotExists(), Name: p.qualified()}
	switch {
	case p.accept(kwBefore):
		n.Time = TriggerBefore
	case p.accept(kwAfter):
		n.Time = TriggerAfter
	case p.acceptBoth(kwInstead, kwOf):
		n.Time = TriggerInsteadOf
	}
	switch {
	case p.accept(kwDelete):
	case p.accept(kwInsert):
		n.Event = TriggerInsert
	case p.accept(kwUpdate):
		n.Event = TriggerUpdate
		if p.accept(kwOf) {
			n.Columns = p.nameList()
		}
	default:
		p.unexpected()
	}
	p.expect(kwOn)
	n.Table = p.qualified()
	if p.stored {
		p.skipSteps()
		n.Span = p.from(start)
		return n
	}
	if p.acceptBoth(kwFor, kwEach) {
		p.expect(kwRow)
		n.ForEachRow = true
	}
	if p.accept(kwWhen) {
		n.When = p.expr()
	}
	p.expect(kwBegin)
	n.Steps = append(n.Steps, p.step())
	p.expect(tokSemicolon)
	for p.err == nil && !p.accept(kwEnd) {
		n.Steps = append(n.Steps, p.step())
		p.expect(tokSemicolon)
	}
	n.Span = p.from(start)
	return n
}

// skipSteps reads the tokens of a trigger behind its table, up to an END with a semicolon
// before it and the end of the statement after it.
func (p *parser) skipSteps() {
	for p.err == nil {
		if p.at(tokEnd) {
			p.unexpected()
		}
		if p.at(kwEnd) && p.last.kind == tokSemicolon {
			if next := p.peek(); next == tokSemicolon || next == tokEnd {
				p.advance()
				return
			}
		}
		p.advance()
	}
}

// step reads a statement in a trigger.
func (p *parser) step() Statement {
	start := p.tok.start
	switch p.tok.kind {
	case kwUpdate:
		return p.update(nil, start, true)
	case kwDelete:
		return p.remove(nil, start, true)
	case kwInsert, kwReplace:
		return p.insert(nil, start)
	case kwSelect, kwValues, kwWith:
		return p.query()
	}
	p.unexpected()
	return nil
}

func (p *parser) drop(start int) Statement {
	p.advance()
	n := &Drop{}
	switch p.tok.kind {
	case kwTable:
	case kwIndex:
		n.Kind = ObjectIndex
	case kwView:
		n.Kind = ObjectView
	case kwTrigger:
		n.Kind = ObjectTrigger
	default:
		p.unexpected()
	}
	p.advance()
	n.IfExists = p.acceptBoth(kwIf, kwExists)
	n.Name = p.qualified()
	n.Span = p.from(start)
	return n
}
