package syntax

// alter reads an ALTER TABLE.
func (p *parser) alter(start int) Statement {
	p.advance()
	p.expect(kwTable)
	n := &Alter{Table: p.qualified()}
	switch {
	case p.accept(kwRename):
		p.rename(n)
	case p.accept(kwAdd):
		p.add(n)
	case p.accept(kwDrop):
		n.Action = AlterDropColumn
		if p.accept(kwConstraint) {
			n.Action = AlterDropConstraint
		} else {
			p.accept(kwColumn)
		}
		n.Column = p.name()
	case p.accept(kwAlter):
		p.alterColumn(n)
	default:
		p.unexpected()
	}
	n.Span = p.from(start)
	return n
}

func (p *parser) rename(n *Alter) {
	if !p.accept(kwTo) {
		n.Action = AlterRenameColumn
		p.accept(kwColumn)
		n.Column = p.name()
		p.expect(kwTo)
	}
	n.To = p.name()
}

func (p *parser) add(n *Alter) {
	if p.at(kwConstraint) || p.at(kwCheck) {
		n.Action = AlterAddConstraint
		c := &Constraint{Kind: ConstraintCheck}
		start := p.tok.start
		if p.accept(kwConstraint) {
			c.Name = p.name()
		}
		p.expect(kwCheck)
		p.parenthesizedText(c)
		c.Conflict = p.onConflict()
		c.Span = p.from(start)
		n.Constraint = c
		return
	}
	n.Action = AlterAddColumn
	p.accept(kwColumn)
	d := p.columnDef()
	n.Definition = &d
}

func (p *parser) alterColumn(n *Alter) {
	p.accept(kwColumn)
	n.Column = p.name()
	if p.accept(kwDrop) {
		n.Action = AlterDropNotNull
		p.expect(kwNot)
		p.expect(kwNull)
		return
	}
	n.Action = AlterSetNotNull
	c := &Constraint{Kind: ConstraintNotNull}
	p.expect(kwSet)
	start := p.tok.start
	p.expect(kwNot)
	p.expect(kwNull)
	c.Conflict = p.onConflict()
	c.Span = p.from(start)
	n.Constraint = c
}
