package ddl

// A Trigger is a CREATE TRIGGER, parsed up to the name of its table.
type Trigger struct {
	Name    string
	Schema  string // "" if not given
	Temp    bool
	Table   string // or view
	Instead bool   // INSTEAD OF: of a view

	body string
}

// SQL implements Statement.
func (t *Trigger) SQL() string { return "CREATE TRIGGER " + t.body }

// createTrigger consumes TRIGGER and the rest of the statement, of which it checks no more than the
// end.
func (p *parser) createTrigger(temp bool) (Statement, error) {
	p.next()
	o, err := p.object("the name of a trigger")
	if err != nil {
		return nil, err
	}
	t := &Trigger{Name: o.name, Schema: o.schema, Temp: temp}
	if err = p.triggerEvent(t); err != nil {
		return nil, err
	}
	if err = p.expect(kwOn, "ON"); err != nil {
		return nil, err
	}
	target, err := p.triggerTable()
	if err != nil {
		return nil, err
	}
	t.Table = target
	if err = p.triggerBody(); err != nil {
		return nil, err
	}
	t.body = p.since(o.start)
	return t, nil
}

// triggerTable consumes [schema .] name.
func (p *parser) triggerTable() (string, error) {
	name, err := p.name("the name of a table")
	if err == nil && p.accept(tokDot) {
		name, err = p.name("the name of a table")
	}
	return name, err
}

// triggerEvent consumes [BEFORE | AFTER | INSTEAD OF] and DELETE, INSERT or UPDATE [OF name, ...].
func (p *parser) triggerEvent(t *Trigger) error {
	switch {
	case p.accept(kwInstead):
		if err := p.expect(kwOf, "OF"); err != nil {
			return err
		}
		t.Instead = true
	case p.accept(kwBefore), p.accept(kwAfter):
	}
	if p.accept(kwDelete) || p.accept(kwInsert) {
		return nil
	}
	if err := p.expect(kwUpdate, "DELETE, INSERT or UPDATE"); err != nil {
		return err
	}
	if !p.accept(kwOf) {
		return nil
	}
	for {
		if _, err := p.name("a column"); err != nil || !p.accept(tokComma) {
			return err
		}
	}
}

// triggerBody consumes everything up to an END with a semicolon before it and the end of a
// statement after it.
func (p *parser) triggerBody() error {
	before := tokEnd
	for {
		switch k := p.tok.kind; k {
		case tokEnd, tokIllegal:
			return p.unexpected()
		case kwEnd:
			if s := p.second(); before == tokSemi && (s == tokSemi || s == tokEnd) {
				p.next()
				return nil
			}
		}
		before = p.next().kind
	}
}
