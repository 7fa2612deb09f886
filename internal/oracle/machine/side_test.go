package machine

import (
	"errors"
	"fmt"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/sqlitefile"
)

// A side is a database and the engine that works on it. An operation that needs a transaction gets
// one of its own if none is open. The number that an operation returns depends on it: for example,
// a rowid, or the number of rows.
type side interface {
	update(fn func() error) error // calls fn in a transaction, which is rolled back if it fails
	nested(fn func() error) error // the same with a savepoint
	exec(sql string) error
	insert(t *table, values []any) (int64, error)
	insertRowid(t *table, rowid int64, values []any) error
	replace(t *table, rowid int64, values []any) (int64, error)
	set(t *table, rowid int64, column int, value any) (int64, error)
	put(t *table, rowid int64, values []any) error
	remove(t *table, rowid int64) (int64, error)
	removeRange(t *table, low, high int64) (int64, error)
	putKey(t *table, values []any) error
	removeKey(t *table, key []any) (int64, error)
	rows(t *table) ([]string, error)
	entries(t *table, x *index) ([]string, error)
}

// An outcome is the result of an operation.
type outcome struct {
	n     int64
	class string
	err   error
}

func (o outcome) String() string { return fmt.Sprintf("%d, %s (%v)", o.n, o.class, o.err) }

// like reports whether two outcomes are the same. Of two constraints that a row breaks, ours looks
// at the types of STRICT first, and C last.
func (o outcome) like(p outcome) bool {
	return o.n == p.n && (o.class == p.class || o.class == classType && (p.class == classUnique || p.class == classNotNull))
}

// The kinds of errors that constraints are.
const (
	classNotNull = "NOT NULL"
	classUnique  = "UNIQUE"
	classType    = "type"
)

// classOf names the kind of an error, the same for both sides.
func classOf(err error) string {
	if err == nil {
		return "ok"
	}
	if c, ok := errors.AsType[*sqlitefile.ConstraintError](err); ok {
		return map[sqlitefile.Constraint]string{
			sqlitefile.ConstraintNotNull: classNotNull, sqlitefile.ConstraintUnique: classUnique, sqlitefile.ConstraintStrict: classType,
		}[c.Kind]
	}
	for _, bad := range []error{sqlitefile.ErrCorrupt, sqlitefile.ErrBusy, sqlitefile.ErrUnsupported, sqlitefile.ErrClosed, sqlitefile.ErrFault} {
		if errors.Is(err, bad) {
			return bad.Error()
		}
	}
	switch judge.Extended(err) {
	case judge.CodeConstraintNotNull:
		return classNotNull
	case judge.CodeConstraintUnique, judge.CodeConstraintPrimary, judge.CodeConstraintRowid:
		return classUnique
	case judge.CodeConstraintType:
		return classType
	}
	if errors.Is(err, sqlitefile.ErrFull) || judge.Extended(err)&0xff == judge.CodeFull {
		return "full"
	}
	return "refused"
}
