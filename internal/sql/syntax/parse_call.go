package syntax

// call reads a function call.
func (p *parser) call() *Expr {
	e := p.node(OpFunction, p.tok.start)
	name := p.anyName()
	e.Text, e.Quote = name.Text, name.Quote
	if !p.push(3) {
		return e
	}
	defer p.pop(3)
	p.expect(tokLeft)
	c := Call{}
	if p.accept(tokStar) {
		c.Star = true
	} else {
		if p.accept(kwDistinct) {
			c.Distinct = true
		} else {
			p.accept(kwAll)
		}
		e.List = p.exprs0()
		if p.acceptBoth(kwOrder, kwBy) {
			c.OrderBy = p.terms()
		}
	}
	p.expect(tokRightParen)
	if len(e.List) > maxArguments {
		p.raise("too many arguments on function "+name.Of(p.sql), name.Start)
	}
	if p.accept(kwFilter) {
		p.expect(tokLeft)
		p.expect(kwWhere)
		c.Filter = p.right(levelOr, 3)
		p.expect(tokRightParen)
	}
	if p.at(kwOver) {
		c.Over = p.over()
	}
	p.checkOrder(e, &c)
	if c.Star || c.Distinct || c.OrderBy != nil || c.Filter != nil || c.Over != nil {
		e.Call = &c
	}
	return p.grown(e)
}

// checkOrder refuses ORDER BY in the arguments of a window function.
func (p *parser) checkOrder(e *Expr, c *Call) {
	if len(c.OrderBy) > 0 && c.Over != nil && len(e.List) > 0 {
		p.raise("ORDER BY may not be used with non-aggregate "+e.Text+"()", -1)
	}
}

func (p *parser) over() *Window {
	start := p.tok.start
	p.advance()
	w := &Window{}
	if p.accept(tokLeft) {
		p.window(w)
		p.expect(tokRightParen)
	} else {
		w.Base, w.NameOnly = p.name(), true
	}
	w.Span = p.from(start)
	return w
}

// window reads the part between the parentheses of a window.
func (p *parser) window(w *Window) {
	switch p.tok.kind {
	case kwPartition, kwRange, kwRows, kwGroups: // keywords here, although they fall back (P2)
	default:
		if p.tok.kind.isName() {
			w.Base = p.name()
		}
	}
	if p.acceptBoth(kwPartition, kwBy) {
		w.Partition = p.exprs1()
	}
	if p.acceptBoth(kwOrder, kwBy) {
		w.OrderBy = p.terms()
	}
	switch p.tok.kind {
	case kwRange:
		w.Frame = &Frame{Unit: FrameRange}
	case kwRows:
		w.Frame = &Frame{Unit: FrameRows}
	case kwGroups:
		w.Frame = &Frame{Unit: FrameGroups}
	default:
		return
	}
	p.advance()
	p.frame(w.Frame)
}

func (p *parser) frame(f *Frame) {
	f.End.Kind = BoundCurrentRow
	if p.accept(kwBetween) {
		f.Between = true
		f.Start = p.bound(kwPreceding)
		p.expect(kwAnd)
		f.End = p.bound(kwFollowing)
	} else {
		f.Start = p.bound(kwPreceding)
	}
	if p.accept(kwExclude) {
		f.Exclude = p.exclude()
	}
	if f.Start.Kind > f.End.Kind { // two of one kind are in order as far as the grammar can tell
		p.raise("unsupported frame specification", -1)
	}
}

// bound reads an end of a frame, where unbounded says which way UNBOUNDED may go.
func (p *parser) bound(unbounded kind) Bound {
	switch p.tok.kind {
	case kwUnbounded:
		p.advance()
		p.expect(unbounded)
		if unbounded == kwPreceding {
			return Bound{Kind: BoundUnboundedPreceding}
		}
		return Bound{Kind: BoundUnboundedFollowing}
	case kwCurrent:
		p.advance()
		p.expect(kwRow)
		return Bound{Kind: BoundCurrentRow}
	}
	b := Bound{Kind: BoundPreceding, Expr: p.right(levelOr, 2)}
	if p.accept(kwPreceding) {
		return b
	}
	p.expect(kwFollowing)
	b.Kind = BoundFollowing
	return b
}

func (p *parser) exclude() Exclude {
	switch p.tok.kind {
	case kwNo:
		p.advance()
		p.expect(kwOthers)
		return ExcludeNoOthers
	case kwCurrent:
		p.advance()
		p.expect(kwRow)
		return ExcludeCurrentRow
	case kwGroup:
		p.advance()
		return ExcludeGroup
	case kwTies:
		p.advance()
		return ExcludeTies
	}
	p.unexpected()
	return ExcludeNone
}
