package ddl

import "fmt"

// A ForeignKey is a REFERENCES or FOREIGN KEY constraint.
type ForeignKey struct {
	Name     string   // of the constraint, "" if none
	Columns  []int    // of this table
	Table    string   // the parent
	Parents  []string // columns of the parent, nil for its primary key
	OnDelete Action
	OnUpdate Action
	Match    string // as written, "" if not given; SQLite ignores it
	Deferred bool   // checked at commit rather than at the end of a statement
}

// An Action says how a row changes when its parent row is deleted or changed.
type Action uint8

// The actions of foreign keys.
const (
	NoAction Action = iota
	SetNull
	SetDefault
	Cascade
	Restrict
)

// String returns the action's keywords.
func (a Action) String() string {
	return [...]string{"NO ACTION", "SET NULL", "SET DEFAULT", "CASCADE", "RESTRICT"}[a]
}

// columnReferences consumes REFERENCES as the constraint of a column.
func (p *tableParser) columnReferences() error {
	at := p.tok.start
	if err := p.countTerm(); err != nil {
		return err
	}
	fk := ForeignKey{Name: p.name, Columns: []int{len(p.t.Columns) - 1}}
	if err := p.references(&fk); err != nil {
		return err
	}
	return p.addForeignKey(fk, at)
}

// foreignKey consumes FOREIGN KEY ( name, ... ) REFERENCES ... [[NOT] DEFERRABLE ...].
func (p *tableParser) foreignKey() error {
	at := p.tok.start
	p.next()
	if err := p.expect(kwKey, "KEY"); err != nil {
		return err
	}
	fk := ForeignKey{Name: p.name}
	before := p.mentions.enter(partChild)
	names, err := p.names("a column")
	p.mentions.enter(before)
	if err != nil {
		return err
	}
	for _, n := range names {
		i := p.t.ColumnIndex(n)
		if i < 0 {
			return &SyntaxError{at, fmt.Sprintf("unknown column %q in a foreign key", clip(n))}
		}
		fk.Columns = append(fk.Columns, i)
	}
	if p.tok.kind != kwReferences {
		return p.errorf("%s, want REFERENCES", p.found())
	}
	if err := p.references(&fk); err != nil {
		return err
	}
	if err := p.addForeignKey(fk, at); err != nil {
		return err
	}
	return p.deferClause()
}

func (p *tableParser) addForeignKey(fk ForeignKey, at int) error {
	if fk.Parents != nil && len(fk.Parents) != len(fk.Columns) {
		return &SyntaxError{at, "foreign key with another number of columns than its parent"}
	}
	p.t.ForeignKeys = append(p.t.ForeignKeys, fk)
	return nil
}

// deferClause consumes [NOT] DEFERRABLE ..., if next.
func (p *tableParser) deferClause() error {
	not := p.accept(kwNot)
	if p.tok.kind == kwDeferrable {
		return p.deferrable(not)
	}
	if not {
		return p.unexpected()
	}
	return nil
}

// references consumes REFERENCES name [( name, ... )] and its arguments.
func (p *tableParser) references(fk *ForeignKey) (err error) {
	p.next()
	p.mentions.note(p.tok, mentionParent)
	p.mentions.refer(p.tok)
	if fk.Table, err = p.parser.name("the name of a table"); err != nil {
		return err
	}
	if p.tok.kind == tokLP {
		before := p.mentions.enter(partParent)
		if fk.Parents, err = p.names("a column"); err != nil {
			return err
		}
		p.mentions.enter(before)
	}
	for p.tok.kind == kwOn || p.tok.kind == kwMatch {
		if err = p.referenceArgument(fk); err != nil {
			return err
		}
	}
	return nil
}

// referenceArgument consumes MATCH name or ON event action.
func (p *tableParser) referenceArgument(fk *ForeignKey) (err error) {
	if p.accept(kwMatch) {
		fk.Match, err = p.parser.name("a name")
		return err
	}
	p.next()
	var ignored Action
	action := &ignored
	switch p.tok.kind {
	case kwDelete:
		action = &fk.OnDelete
	case kwUpdate:
		action = &fk.OnUpdate
	case kwInsert:
	default:
		return p.unexpected()
	}
	p.next()
	*action, err = p.action()
	return err
}

func (p *tableParser) action() (Action, error) {
	switch {
	case p.accept(kwCascade):
		return Cascade, nil
	case p.accept(kwRestrict):
		return Restrict, nil
	case p.accept(kwNo):
		return NoAction, p.expect(kwAction, "ACTION")
	case p.accept(kwSet):
		if p.accept(kwNull) {
			return SetNull, nil
		}
		return SetDefault, p.expect(kwDefault, "NULL or DEFAULT")
	}
	return NoAction, p.unexpected()
}

// deferrable consumes DEFERRABLE [INITIALLY DEFERRED | INITIALLY IMMEDIATE] and applies it to the
// latest foreign key of the table, if any (Q12).
func (p *tableParser) deferrable(not bool) error {
	p.next()
	deferred := false
	if p.accept(kwInitially) {
		if deferred = p.accept(kwDeferred); !deferred {
			if err := p.expect(kwImmediate, "DEFERRED or IMMEDIATE"); err != nil {
				return err
			}
		}
	}
	if n := len(p.t.ForeignKeys); n > 0 {
		p.t.ForeignKeys[n-1].Deferred = deferred && !not
	}
	return nil
}
