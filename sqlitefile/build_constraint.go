package sqlitefile

import (
	"errors"
	"strings"

	"github.com/foliofs/folio/internal/sql/syntax"
)

// ErrConstraint is matched by every *ConstraintError.
var ErrConstraint = errors.New("constraint failed")

// A Constraint is a kind of promise that a table makes about its rows.
type Constraint uint8

// The constraints that writing upholds.
const (
	ConstraintNotNull    Constraint = iota + 1
	ConstraintUnique                // UNIQUE or PRIMARY KEY
	ConstraintStrict                // the type of a column in a STRICT table
	ConstraintCheck                 // CHECK
	ConstraintForeignKey            // FOREIGN KEY, with Options.ForeignKeys
)

// String returns the constraint as SQLite's errors name it, for example "NOT NULL".
func (c Constraint) String() string {
	return nameOf("Constraint", int(c), []string{"", "NOT NULL", "UNIQUE", "STRICT", "CHECK", "FOREIGN KEY"})
}

// A ConstraintError says that a row breaks a constraint of its table. It matches ErrConstraint.
type ConstraintError struct {
	Kind    Constraint
	Table   string
	Columns []string // of the constraint; nil for a CHECK and a unique index on an expression

	// What describes the violation. For ConstraintStrict it is the type of the value and that of
	// the column, for ConstraintCheck the name of
	// the constraint or its expression, for ConstraintForeignKey from which table to which, and for
	// a unique index on an expression the name of the index.
	What string

	clause     syntax.Conflict // of the constraint, or of the statement
	restricted bool            // by the action RESTRICT of a foreign key
}

// Error formats the error as SQLite does.
func (e *ConstraintError) Error() string {
	columns := make([]string, len(e.Columns))
	for i, c := range e.Columns {
		columns[i] = e.Table + "." + c
	}
	list := strings.Join(columns, ", ")
	if e.Columns == nil {
		list = e.What
	}
	if e.Kind == ConstraintStrict {
		return e.What + " " + list
	}
	return e.Kind.String() + " constraint failed: " + list
}

// Is makes errors.Is(err, ErrConstraint) true.
func (e *ConstraintError) Is(target error) bool { return target == ErrConstraint }
