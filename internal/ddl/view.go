package ddl

// A View is a parsed CREATE VIEW.
type View struct {
	Name    string
	Schema  string // "" if not given
	Temp    bool
	Columns []string // their names, if the statement gives any
	Select  string   // not checked

	IfNotExists bool

	body string
}

// SQL implements Statement.
func (v *View) SQL() string { return "CREATE VIEW " + v.body }

// createView consumes VIEW and the rest of the statement.
func (p *parser) createView(temp bool) (Statement, error) {
	p.next()
	o, err := p.object("the name of a view")
	if err != nil {
		return nil, err
	}
	v := &View{Name: o.name, Schema: o.schema, Temp: temp, IfNotExists: o.optional}
	if p.tok.kind == tokLP {
		if v.Columns, err = p.names("a column"); err != nil {
			return nil, err
		}
	}
	if err = p.expect(kwAs, "AS"); err != nil {
		return nil, err
	}
	start := p.tok.start
	if !p.tok.kind.startsSelect() {
		return nil, p.errorf("%s, want SELECT", p.found())
	}
	if err = p.rest(); err != nil {
		return nil, err
	}
	v.Select, v.body = p.since(start), trimSpaceRight(p.upTo(o.start))
	return v, nil
}
