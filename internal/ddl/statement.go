package ddl

import (
	"github.com/foliofs/folio/internal/sql/syntax"
)

// A Statement is a *Table, *Index, *View or *Trigger.
type Statement interface {
	// SQL returns the statement as SQLite stores it in sqlite_schema.sql: without TEMP, IF NOT
	// EXISTS, the name of the schema, and whatever follows the statement.
	SQL() string
}

// Parse parses one CREATE statement of any kind. Unlike the functions for one kind, which stop at
// the semicolon as SQLite does, it returns an error for a second statement after the first. It
// returns a *SyntaxError.
func Parse(sql string) (Statement, error) {
	p, err := parse(sql)
	if err != nil {
		return nil, err
	}
	if rest, err := parse(sql[p.Tail:]); err != nil || rest.Statement != nil {
		return nil, &SyntaxError{p.Tail, "text after the end of the statement"}
	}
	return create(sql, p)
}

// ParseFirst is Parse for a text of which SQLite reads the first statement only, such as one in
// sqlite_schema. It returns a *SyntaxError.
func ParseFirst(sql string) (Statement, error) {
	p, err := parse(sql)
	if err != nil {
		return nil, err
	}
	return create(sql, p)
}

// ParseTable parses CREATE TABLE or CREATE VIRTUAL TABLE. It returns a *SyntaxError.
func ParseTable(sql string) (*Table, error) { return parseAs[*Table](sql, "CREATE TABLE") }

// ParseIndex parses CREATE INDEX. The columns of the result are names until Resolve. It returns a
// *SyntaxError.
func ParseIndex(sql string) (*Index, error) { return parseAs[*Index](sql, "CREATE INDEX") }

// ParseView parses CREATE VIEW. It returns a *SyntaxError.
func ParseView(sql string) (*View, error) { return parseAs[*View](sql, "CREATE VIEW") }

// ParseTrigger parses CREATE TRIGGER. It returns a *SyntaxError.
func ParseTrigger(sql string) (*Trigger, error) { return parseAs[*Trigger](sql, "CREATE TRIGGER") }

func parseAs[S Statement](sql, kind string) (S, error) {
	var none S
	s, err := ParseFirst(sql)
	if err != nil {
		return none, err
	}
	as, ok := s.(S)
	if !ok {
		return none, &SyntaxError{0, "not a " + kind + " statement"}
	}
	return as, nil
}

// parse reads the first statement of a text.
func parse(sql string) (*syntax.Parsed, error) {
	if len(sql) > maxText {
		return nil, &SyntaxError{maxText, "statement too long"}
	}
	p, err := syntax.ParseStored(sql)
	if err != nil {
		return nil, &SyntaxError{err.Offset, err.Message}
	}
	return p, nil
}

// create returns the object that a statement creates.
func create(sql string, p *syntax.Parsed) (Statement, error) {
	if p.Explain == syntax.ExplainNone {
		if err := checkName(p.Statement); err != nil {
			return nil, err
		}
		switch n := p.Statement.(type) {
		case *syntax.CreateTable:
			return newTable(sql, n, p.End)
		case *syntax.CreateVirtual:
			return newVirtual(sql, n), nil
		case *syntax.CreateIndex:
			return newIndex(sql, n, p.End)
		case *syntax.CreateView:
			return newView(sql, n, p.End), nil
		case *syntax.CreateTrigger:
			return newTrigger(sql, n), nil
		}
	}
	return nil, &SyntaxError{0, "not a CREATE statement"}
}

// checkName refuses the bare word IF as the name of an object (Q1).
func checkName(s syntax.Statement) error {
	var name syntax.Name
	switch n := s.(type) {
	case *syntax.CreateTable:
		name = n.Name.Name
	case *syntax.CreateVirtual:
		name = n.Name.Name
	case *syntax.CreateIndex:
		name = n.Name.Name
	case *syntax.CreateView:
		name = n.Name.Name
	case *syntax.CreateTrigger:
		name = n.Name.Name
	}
	if name.Quote == 0 && EqualFold(name.Text, "if") {
		return &SyntaxError{name.Start, "IF as a name needs quotes"}
	}
	return nil
}
