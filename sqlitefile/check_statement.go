package sqlitefile

import (
	"errors"

	"github.com/foliofs/folio/internal/ddl"
)

// statement checks a row of sqlite_schema as SQLite does when it opens the database: a statement
// that it cannot parse, or that makes something else than the row says, keeps it from opening the
// database at all ("malformed database schema").
//
// The expressions of a view, and of the body of a trigger, are only split into tokens: an error in
// their grammar is found by SQLite alone.
func (c *checker) statement(o *Object, page uint32) error {
	err := c.statements.add(o)
	if err == nil {
		return nil
	}
	c.malformed = o.Name
	defer func() { c.malformed = "" }()
	return c.problem(page, malformedSchema(o, err))
}

var (
	errNoStatement   = errors.New("it has no statement, and is not the index of a constraint")
	errNotCreate     = errors.New("its text is not a CREATE statement")
	errOtherType     = errors.New("its statement makes something of another type")
	errOtherName     = errors.New("its statement gives another name")
	errOtherTable    = errors.New("its statement names another table")
	autoIndexPrefix  = "sqlite_autoindex_"
	errUnknownObject = errors.New("it is no table, index, view or trigger")
)

// Malformed returns an error if SQLite cannot parse the statement of an object, or if that makes
// something else than the object is, as far as this package can tell: of a view and of the body of
// a trigger it looks at tokens only.
func (o *Object) Malformed() error {
	_, err := o.statement()
	return err
}

// statement returns what the statement of an object makes, or nil for the index of a constraint.
func (o *Object) statement() (ddl.Statement, error) {
	switch ddl.Fold(o.Type) {
	case "table", "index", "view", "trigger":
	default:
		return nil, errUnknownObject
	}
	if o.SQL == "" {
		if o.isAutoIndex() {
			return nil, nil
		}
		return nil, errNoStatement
	}
	if len(o.SQL) < 2 || !ddl.EqualFold(o.SQL[:2], "cr") {
		return nil, errNotCreate
	}
	s, err := ddl.ParseFirst(o.SQL)
	if err != nil {
		return nil, err
	}
	typ, name, table := described(s)
	switch {
	case !ddl.EqualFold(typ, o.Type):
		err = errOtherType
	case !ddl.EqualFold(name, o.Name):
		err = errOtherName
	case !ddl.EqualFold(table, o.Table):
		err = errOtherTable
	}
	return s, err
}

// described returns the object that a statement makes.
func described(s ddl.Statement) (typ, name, table string) {
	switch s := s.(type) {
	case *ddl.Table:
		return "table", s.Name, s.Name
	case *ddl.View:
		return "view", s.Name, s.Name
	case *ddl.Index:
		return "index", s.Name, s.Table
	case *ddl.Trigger:
		return "trigger", s.Name, s.Table
	}
	return "", "", ""
}
