package ddl

import "slices"

// A Unique is a UNIQUE or PRIMARY KEY constraint.
type Unique struct {
	Name       string // of the constraint, "" if none
	Columns    []IndexedColumn
	Primary    bool // PRIMARY KEY
	OnConflict Conflict
}

// startsConstraint reports whether a table constraint is next.
func (p *tableParser) startsConstraint() bool {
	switch p.tok.kind {
	case kwConstraint, kwPrimary, kwUnique, kwCheck, kwForeign:
		return true
	}
	return false
}

// constraints consumes the table constraints, which need no commas between them.
func (p *tableParser) constraints() error {
	for {
		if err := p.constraint(); err != nil {
			return err
		}
		if p.accept(tokComma) {
			p.name = ""
		} else if !p.startsConstraint() {
			return nil
		}
	}
}

// constraint consumes one table constraint, or the name of one. A name without a constraint is
// allowed.
func (p *tableParser) constraint() error {
	switch p.tok.kind {
	case kwConstraint:
		return p.constraintName()
	case kwPrimary:
		return p.primaryKey()
	case kwUnique:
		return p.unique()
	case kwCheck:
		if err := p.check(); err != nil {
			return err
		}
		_, err := p.onConflict()
		return err
	case kwForeign:
		return p.foreignKey()
	}
	return p.errorf("%s, want a constraint", p.found())
}

// constraintName consumes CONSTRAINT and a name (Q11).
func (p *tableParser) constraintName() (err error) {
	p.next()
	p.name, err = p.parser.name("the name of a constraint")
	return err
}

// onConflict consumes ON CONFLICT and an algorithm, if next.
func (p *parser) onConflict() (Conflict, error) {
	if !p.accept(kwOn) {
		return ConflictDefault, nil
	}
	if err := p.expect(kwConflict, "CONFLICT"); err != nil {
		return ConflictDefault, err
	}
	c := p.tok.kind.conflict()
	if c == ConflictDefault {
		return c, p.unexpected()
	}
	p.next()
	return c, nil
}

// conflict returns the algorithm that a keyword names, ConflictDefault if it names none.
func (k tokenKind) conflict() Conflict {
	switch k {
	case kwRollback:
		return ConflictRollback
	case kwAbort:
		return ConflictAbort
	case kwFail:
		return ConflictFail
	case kwIgnore:
		return ConflictIgnore
	case kwReplace:
		return ConflictReplace
	}
	return ConflictDefault
}

// check consumes CHECK ( expr ).
func (p *tableParser) check() error {
	p.next()
	if err := p.countTerm(); err != nil {
		return err
	}
	before := p.mentions.enter(partCheck)
	text, err := p.parenthesised()
	p.mentions.enter(before)
	p.t.Checks = append(p.t.Checks, Check{p.name, text})
	return err
}

// primaryWords consumes PRIMARY KEY, of which there may be one.
func (p *tableParser) primaryWords() error {
	if p.t.PrimaryKey != nil {
		return p.errorf("more than one PRIMARY KEY")
	}
	p.next()
	return p.expect(kwKey, "KEY")
}

// columnPrimaryKey consumes PRIMARY KEY [ASC | DESC] [ON CONFLICT ...] [AUTOINCREMENT].
func (p *tableParser) columnPrimaryKey() error {
	if err := p.primaryWords(); err != nil {
		return err
	}
	u := Unique{Name: p.name, Primary: true, Columns: p.lastTerm(p.sortOrder())}
	var err error
	if u.OnConflict, err = p.onConflict(); err != nil {
		return err
	}
	auto := p.accept(kwAutoincrement)
	return p.setPrimaryKey(u, auto, u.Columns[0].Desc)
}

// columnUnique consumes UNIQUE [ON CONFLICT ...].
func (p *tableParser) columnUnique() (err error) {
	p.next()
	if err = p.countTerm(); err != nil {
		return err
	}
	u := Unique{Name: p.name, Columns: p.lastTerm(false)}
	u.OnConflict, err = p.onConflict()
	p.t.Uniques = append(p.t.Uniques, u)
	return err
}

// lastTerm returns the key of a column constraint. Its collation is known only when the column is
// complete.
func (p *tableParser) lastTerm(desc bool) []IndexedColumn {
	return []IndexedColumn{{Column: len(p.t.Columns) - 1, Name: p.last().Name, Desc: desc}}
}

// primaryKey consumes PRIMARY KEY ( term, ... [AUTOINCREMENT] ) [ON CONFLICT ...].
func (p *tableParser) primaryKey() error {
	if err := p.primaryWords(); err != nil {
		return err
	}
	u := Unique{Name: p.name, Primary: true}
	var err error
	if u.Columns, err = p.key(maxTerms); err != nil {
		return err
	}
	auto := p.accept(kwAutoincrement)
	if err = p.expect(tokRP, ") or ,"); err != nil {
		return err
	}
	if u.OnConflict, err = p.onConflict(); err != nil {
		return err
	}
	return p.setPrimaryKey(u, auto, false)
}

// unique consumes UNIQUE ( term, ... ) [ON CONFLICT ...].
func (p *tableParser) unique() (err error) {
	p.next()
	u := Unique{Name: p.name}
	if u.Columns, err = p.key(1); err != nil {
		return err
	}
	if err = p.expect(tokRP, ") or ,"); err != nil {
		return err
	}
	u.OnConflict, err = p.onConflict()
	p.t.Uniques = append(p.t.Uniques, u)
	return err
}

// key consumes the opening parenthesis and the terms of a constraint, which must be columns. It
// passes collates on to indexTerms: a string is still a name (Q10) with any number of COLLATE
// operators in a PRIMARY KEY, with one in UNIQUE and CREATE INDEX.
func (p *tableParser) key(collates int) ([]IndexedColumn, error) {
	if err := p.expect(tokLP, "("); err != nil {
		return nil, err
	}
	before := p.mentions.enter(partKey)
	terms, err := p.indexTerms(collates)
	p.mentions.enter(before)
	if err != nil {
		return nil, err
	}
	for i := range terms {
		if err := terms[i].resolve(p.t); err != nil {
			return nil, err
		}
		if terms[i].Column < 0 {
			return nil, &SyntaxError{terms[i].at, "expression in a PRIMARY KEY or UNIQUE constraint"}
		}
	}
	return terms, nil
}

// setPrimaryKey records the primary key, and the alias if it is one (Q5). SQLite keeps the
// exception for columns that say DESC, which began as a mistake, because there are files with such
// tables.
func (p *tableParser) setPrimaryKey(u Unique, auto, desc bool) error {
	t := p.t
	for _, c := range u.Columns {
		t.Columns[c.Column].PrimaryKey = true
	}
	t.PrimaryKey = slices.Clone(u.Columns)
	t.Uniques = append(t.Uniques, u)
	only := u.Columns[0].Column
	switch {
	case len(u.Columns) == 1 && t.Columns[only].Standard == Integer && !desc:
		t.RowidAlias, t.Autoincrement, p.alias = only, auto, true
	case auto:
		return p.errorf("AUTOINCREMENT without INTEGER PRIMARY KEY")
	}
	return nil
}
