package syntax

import "strconv"

// insert reads an INSERT or REPLACE behind its WITH.
func (p *parser) insert(with *With, start int) *Insert {
	n := &Insert{With: with}
	if p.accept(kwReplace) {
		n.Replace = true
	} else {
		p.expect(kwInsert)
		n.Conflict = p.orConflict()
	}
	p.expect(kwInto)
	n.Table.QualifiedName = p.qualified()
	if p.accept(kwAs) {
		n.Table.Alias = p.name()
	}
	n.Columns = p.optionalNames()
	switch {
	case p.acceptBoth(kwDefault, kwValues):
		n.Returning = p.returning()
	case p.tok.kind.startsSelect():
		n.Query = p.query()
		p.upserts(n)
	default:
		p.unexpected()
	}
	n.Span = p.from(start)
	return n
}

// upserts reads the ON CONFLICT clauses and the RETURNING of an INSERT. A clause without a target
// is the last.
func (p *parser) upserts(n *Insert) {
	for open := true; open && p.at(kwOn); {
		u := Upsert{}
		start := p.tok.start
		p.advance()
		p.expect(kwConflict)
		open = p.accept(tokLeft)
		if open {
			u.Target = p.terms()
			p.expect(tokRightParen)
			u.TargetWhere = p.where()
		}
		p.expect(kwDo)
		if p.accept(kwUpdate) {
			p.expect(kwSet)
			u.Update = p.assignments()
			u.Where = p.where()
		} else {
			p.expect(kwNothing)
		}
		u.Span = p.from(start)
		n.Upserts = append(n.Upserts, u)
	}
	n.Returning = p.returning()
}

func (p *parser) returning() []Column {
	if !p.accept(kwReturning) {
		return nil
	}
	return p.columns()
}

// update reads an UPDATE behind its WITH. In a trigger it may say neither how to find rows nor what
// to return.
func (p *parser) update(with *With, start int, trigger bool) *Update {
	n := &Update{With: with}
	p.expect(kwUpdate)
	n.Conflict = p.orConflict()
	p.target(&n.Table, trigger)
	p.expect(kwSet)
	n.Set = p.assignments()
	if p.accept(kwFrom) {
		n.From = p.sources()
	}
	n.Where = p.where()
	if !trigger {
		n.Returning = p.returning()
	}
	n.Span = p.from(start)
	return n
}

// remove reads a DELETE behind its WITH.
func (p *parser) remove(with *With, start int, trigger bool) *Delete {
	n := &Delete{With: with}
	p.expect(kwDelete)
	p.expect(kwFrom)
	p.target(&n.Table, trigger)
	n.Where = p.where()
	if !trigger {
		n.Returning = p.returning()
	}
	n.Span = p.from(start)
	return n
}

// target reads the table that an UPDATE or DELETE changes.
func (p *parser) target(t *Target, trigger bool) {
	t.QualifiedName = p.qualified()
	if p.accept(kwAs) {
		t.Alias = p.name()
	}
	t.IndexedBy, t.NotIndexed = p.indexed()
	clause := ""
	if !t.IndexedBy.IsZero() {
		clause = "INDEXED BY"
	} else if t.NotIndexed {
		clause = "NOT INDEXED"
	}
	if trigger && clause != "" {
		p.raise("the "+clause+" clause is not allowed on UPDATE or DELETE statements within triggers", -1)
	}
}

// assignments reads the list behind SET.
func (p *parser) assignments() []Assignment {
	var list []Assignment
	for {
		a := Assignment{Row: p.at(tokLeft)}
		if a.Row {
			a.Columns = p.optionalNames()
		} else {
			a.Columns = []Name{p.name()}
		}
		p.expect(tokEqual)
		a.Value = p.right(levelOr, 4)
		if a.Row {
			p.checkRow(&a)
		}
		list = append(list, a)
		if !p.accept(tokComma) {
			return list
		}
	}
}

// checkRow refuses a row with another number of values than columns. The number of a query is known
// only later.
func (p *parser) checkRow(a *Assignment) {
	values := 1
	switch a.Value.Op {
	case OpSubquery:
		return
	case OpRow:
		values = len(a.Value.List)
	}
	if values != len(a.Columns) && p.err == nil {
		p.raise(strconv.Itoa(len(a.Columns))+" columns assigned "+strconv.Itoa(values)+" values", -1)
	}
}

// orConflict reads OR with a conflict resolution, if it is there.
func (p *parser) orConflict() Conflict {
	if !p.accept(kwOr) {
		return ConflictNone
	}
	return p.resolution()
}

// onConflict reads ON CONFLICT with a conflict resolution, if it is there.
func (p *parser) onConflict() Conflict {
	if !p.acceptBoth(kwOn, kwConflict) {
		return ConflictNone
	}
	return p.resolution()
}

func (p *parser) resolution() Conflict {
	c := ConflictNone
	switch p.tok.kind {
	case kwRollback:
		c = ConflictRollback
	case kwAbort:
		c = ConflictAbort
	case kwFail:
		c = ConflictFail
	case kwIgnore:
		c = ConflictIgnore
	case kwReplace:
		c = ConflictReplace
	default:
		p.unexpected()
	}
	p.advance()
	return c
}
