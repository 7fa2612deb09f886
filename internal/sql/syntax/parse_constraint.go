package syntax

// columnDef reads the definition of a column.
func (p *parser) columnDef() ColumnDef {
	start := p.tok.start
	d := ColumnDef{Name: p.name()}
	d.Type = p.typeName()
	d.TypeText = d.Type.Of(p.sql)
	for {
		c, ok := p.columnConstraint()
		if !ok {
			break
		}
		d.Constraints = append(d.Constraints, c)
	}
	d.Span = p.from(start)
	return d
}

// columnConstraint reads a constraint of a column, if there is one.
func (p *parser) columnConstraint() (c Constraint, ok bool) {
	start := p.tok.start
	switch p.tok.kind {
	case kwConstraint:
		p.advance()
		c.Name = p.name()
	case kwDefault:
		p.defaultValue(&c)
	case kwNull:
		p.advance()
		c.Kind, c.Conflict = ConstraintNull, p.onConflict()
	case kwNot:
		p.advance()
		if p.at(kwDeferrable) {
			p.deferrable(&c, true)
			break
		}
		p.expect(kwNull)
		c.Kind, c.Conflict = ConstraintNotNull, p.onConflict()
	case kwPrimary:
		p.advance()
		p.expect(kwKey)
		c.Kind, c.Order, c.Conflict = ConstraintPrimaryKey, p.order(), p.onConflict()
		c.Autoincrement = p.accept(kwAutoincrement)
	case kwUnique:
		p.advance()
		c.Kind, c.Conflict = ConstraintUnique, p.onConflict()
	case kwCheck:
		p.advance()
		c.Kind = ConstraintCheck
		p.parenthesizedText(&c)
	case kwReferences:
		c.Kind = ConstraintForeign
		c.Reference = p.reference()
	case kwDeferrable:
		p.deferrable(&c, false)
	case kwCollate:
		p.advance()
		c.Kind, c.Name = ConstraintCollate, p.word()
	case kwGenerated, kwAs:
		p.generated(&c)
	default:
		return c, false
	}
	c.Span = p.from(start)
	return c, p.err == nil
}

// parenthesizedText reads an expression in parentheses with its text.
func (p *parser) parenthesizedText(c *Constraint) {
	start := p.tok.end
	p.expect(tokLeft)
	c.Expr = p.right(levelOr, 6)
	c.Text = Span{start, max(start, p.tok.start)}
	p.expect(tokRightParen)
}

func (p *parser) generated(c *Constraint) {
	c.Kind = ConstraintGenerated
	if p.acceptBoth(kwGenerated, kwAlways) {
		c.Always = true
	}
	p.expect(kwAs)
	p.parenthesizedText(c)
	if p.tok.kind.isID() {
		c.Name = p.anyName()
	}
}

// defaultValue reads DEFAULT. A word without quotes is a string there, except TRUE and FALSE, which
// the caller must know.
func (p *parser) defaultValue(c *Constraint) {
	c.Kind = ConstraintDefault
	p.advance()
	if p.at(tokLeft) {
		c.Parens = true
		p.parenthesizedText(c)
		return
	}
	start := p.tok.start
	sign := p.tok.kind
	if sign == tokPlus || sign == tokMinus {
		p.advance()
		c.Expr = p.literal()
		if sign == tokMinus {
			e := p.node(OpMinus, start)
			e.Left = c.Expr
			c.Expr = p.grown(e)
		}
	} else if k := p.tok.kind; k != kwCurrentTime && (k.isID() || k == kwIndexed) {
		e := p.node(OpColumn, start)
		name := p.anyName()
		e.bits = uint64(name.Start)
		e.Text, e.Quote, e.End = name.Text, name.Quote, name.End
		c.Expr = e
	} else {
		c.Expr = p.literal()
	}
	c.Text = p.from(start)
}

// deferrable reads DEFERRABLE behind its NOT.
func (p *parser) deferrable(c *Constraint, not bool) {
	c.Kind, c.Deferrable = ConstraintDeferrable, DeferrableNow
	p.expect(kwDeferrable)
	if p.accept(kwInitially) {
		switch {
		case p.accept(kwDeferred):
			c.Deferrable = DeferrableDeferred
		case p.accept(kwImmediate):
		default:
			p.unexpected()
		}
	}
	if not {
		c.Deferrable = DeferrableNot
	}
}

// reference reads REFERENCES.
func (p *parser) reference() *Reference {
	p.expect(kwReferences)
	r := &Reference{Table: p.name(), Columns: p.nameTerms()}
	for {
		switch {
		case p.accept(kwMatch):
			p.name()
			continue
		case !p.accept(kwOn):
			return r
		}
		k := p.tok.kind
		if k != kwInsert && k != kwDelete && k != kwUpdate {
			p.unexpected()
		}
		p.advance()
		a := p.action()
		switch k {
		case kwDelete:
			r.OnDelete = a
		case kwUpdate:
			r.OnUpdate = a
		}
	}
}

func (p *parser) action() Action {
	switch {
	case p.accept(kwSet):
		switch {
		case p.accept(kwNull):
			return ActionSetNull
		case p.accept(kwDefault):
			return ActionSetDefault
		}
	case p.accept(kwCascade):
		return ActionCascade
	case p.accept(kwRestrict):
		return ActionRestrict
	case p.acceptBoth(kwNo, kwAction):
		return ActionNone
	}
	p.unexpected()
	return ActionNone
}

// tableConstraint reads a constraint of a table, if there is one.
func (p *parser) tableConstraint() (c Constraint, ok bool) {
	start := p.tok.start
	switch p.tok.kind {
	case kwConstraint:
		p.advance()
		c.Name = p.name()
	case kwPrimary, kwUnique:
		c.Kind = ConstraintUnique
		if p.acceptBoth(kwPrimary, kwKey) {
			c.Kind = ConstraintPrimaryKey
		} else {
			p.advance()
		}
		p.expect(tokLeft)
		c.Terms = p.terms()
		if c.Kind == ConstraintPrimaryKey {
			c.Autoincrement = p.accept(kwAutoincrement)
		}
		p.expect(tokRightParen)
		c.Conflict = p.onConflict()
	case kwCheck:
		p.advance()
		c.Kind = ConstraintCheck
		p.parenthesizedText(&c)
		c.Conflict = p.onConflict()
	case kwForeign:
		p.foreignKey(&c)
	default:
		return c, false
	}
	c.Span = p.from(start)
	return c, p.err == nil
}

func (p *parser) foreignKey(c *Constraint) {
	p.advance()
	p.expect(kwKey)
	c.Kind = ConstraintForeign
	if !p.at(tokLeft) {
		p.unexpected()
	}
	c.Columns = p.nameTerms()
	c.Reference = p.reference()
	not := p.accept(kwNot)
	if not || p.at(kwDeferrable) {
		p.deferrable(c, not)
		c.Kind = ConstraintForeign
	}
}
