package ddl

// A tableParser parses one CREATE TABLE.
type tableParser struct {
	*parser
	t     *Table
	name  string // of the CONSTRAINT clause last seen, for those that follow it
	alias bool   // the PRIMARY KEY is the rowid, or would be it without WITHOUT ROWID
}

// createTable consumes TABLE and the rest of the statement.
func (p *parser) createTable(temp bool) (Statement, error) {
	p.next()
	o, err := p.object("the name of a table")
	if err != nil {
		return nil, err
	}
	p.mentions.note(scan(p.sql, o.start), mentionTable)
	t := &Table{Name: o.name, Schema: o.schema, Temp: temp, IfNotExists: o.optional, RowidAlias: -1, byName: map[string]int{}}
	tp := &tableParser{parser: p, t: t}
	if p.tok.kind == kwAs {
		return nil, p.errorf("CREATE TABLE AS SELECT has no list of columns")
	}
	if err := tp.definition(); err != nil {
		return nil, err
	}
	t.body = p.since(o.start)
	if t.WithoutRowid || t.Strict {
		t.body = p.upTo(o.start)
	}
	return t, nil
}

// definition consumes the parenthesis with the columns and constraints, and the options.
func (p *tableParser) definition() error {
	if err := p.expect(tokLP, "("); err != nil {
		return err
	}
	if err := p.columns(); err != nil {
		return err
	}
	if err := p.expect(tokRP, ") or ,"); err != nil {
		return err
	}
	if err := p.options(); err != nil {
		return err
	}
	return p.finish()
}

// columns consumes the columns and, after the last, the table constraints.
func (p *tableParser) columns() error {
	for {
		if err := p.column(); err != nil {
			return err
		}
		p.t.end = p.tok.start
		if !p.accept(tokComma) {
			return nil
		}
		if p.startsConstraint() {
			return p.constraints()
		}
	}
}

// options consumes WITHOUT ROWID and STRICT. The grammar lets the first have a comma before it.
func (p *tableParser) options() error {
	if p.tok.kind.isName() {
		if err := p.option(); err != nil {
			return err
		}
	}
	for p.accept(tokComma) {
		if err := p.option(); err != nil {
			return err
		}
	}
	return nil
}

func (p *tableParser) option() error {
	switch {
	case p.accept(kwWithout):
		if !p.isWord("rowid") {
			return p.errorf("%s, want ROWID", p.found())
		}
		p.t.WithoutRowid = true
	case p.isWord("strict"):
		p.t.Strict = true
	default:
		return p.errorf("%s, want a table option", p.found())
	}
	p.next()
	return nil
}

// finish makes the checks and derivations that need the whole statement. The order matters: STRICT
// spares the alias that WITHOUT ROWID takes away, and automatic indexes compare the collations that
// inherit fills in.
func (p *tableParser) finish() error {
	t := p.t
	if err := p.checkGenerated(); err != nil {
		return err
	}
	for i := range t.Uniques {
		p.inherit(t.Uniques[i].Columns)
	}
	p.inherit(t.PrimaryKey)
	if t.Strict {
		if err := p.strict(); err != nil {
			return err
		}
	}
	if t.WithoutRowid {
		if err := p.withoutRowid(); err != nil {
			return err
		}
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		c.Default.settle(c.Affinity)
	}
	return p.autoIndexes()
}

// checkGenerated wants one column at least that is not generated, and no generated one in the
// primary key.
func (p *tableParser) checkGenerated() error {
	plain := false
	for i := range p.t.Columns {
		c := &p.t.Columns[i]
		if c.Generated != nil && c.PrimaryKey {
			return p.errorf("generated column %q in the PRIMARY KEY", clip(c.Name))
		}
		plain = plain || c.Generated == nil
	}
	if !plain {
		return p.errorf("no column that is not generated")
	}
	return nil
}

// strict applies the rules of STRICT for types and the primary key.
func (p *tableParser) strict() error {
	for i := range p.t.Columns {
		c := &p.t.Columns[i]
		if c.Standard == Custom {
			return p.errorf("type %q of column %q in a STRICT table", clip(c.Type), clip(c.Name))
		}
		if c.Standard == Any {
			c.Affinity = AffinityBlob
		}
		if c.PrimaryKey && i != p.t.RowidAlias {
			c.NotNull = true
		}
	}
	return nil
}

// withoutRowid checks that there is a primary key and makes it NOT NULL.
func (p *tableParser) withoutRowid() error {
	t := p.t
	if t.Autoincrement {
		return p.errorf("AUTOINCREMENT in a WITHOUT ROWID table")
	}
	if t.PrimaryKey == nil {
		return p.errorf("WITHOUT ROWID table without a PRIMARY KEY")
	}
	for i := range t.Columns {
		if t.Columns[i].PrimaryKey {
			t.Columns[i].NotNull = true
		}
	}
	if t.RowidAlias >= 0 {
		p.demoteAlias()
	}
	return nil
}

// demoteAlias makes an ordinary key of a PRIMARY KEY that would be the alias in another table (Q6).
// The collation of the column holds, even if the constraint asks for another.
func (p *tableParser) demoteAlias() {
	t := p.t
	t.PrimaryKey[0].Collation = t.Columns[t.RowidAlias].Collation
	t.demoted = true
	t.RowidAlias = -1
}
