package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/sql/exec"
	"github.com/foliofs/folio/internal/sql/value"
	"github.com/foliofs/folio/sqlitefile"
)

// Result codes of SQLite that an [Error] can have.
const (
	CodeError      = 1
	CodeBusy       = 5
	CodeLocked     = 6
	CodeReadOnly   = 8
	CodeInterrupt  = 9
	CodeIO         = 10
	CodeCorrupt    = 11
	CodeFull       = 13
	CodeCantOpen   = 14
	CodeTooBig     = 18
	CodeConstraint = 19
	CodeMismatch   = 20
	CodeMisuse     = 21
	CodeRange      = 25
	CodeNotADB     = 26
)

// Extended result codes of SQLite that an [Error] can have.
const (
	CodeBusySnapshot         = CodeBusy | 2<<8
	CodeConstraintCheck      = CodeConstraint | 1<<8
	CodeConstraintForeignKey = CodeConstraint | 3<<8
	CodeConstraintNotNull    = CodeConstraint | 5<<8
	CodeConstraintPrimaryKey = CodeConstraint | 6<<8
	CodeConstraintTrigger    = CodeConstraint | 7<<8
	CodeConstraintUnique     = CodeConstraint | 8<<8
	CodeConstraintRowID      = CodeConstraint | 10<<8
	CodeConstraintDataType   = CodeConstraint | 12<<8
)

// An Error is an error of a statement.
type Error struct {
	Code     int // result code of SQLite, for example CodeError
	Extended int // extended result code; Code if there is no other
	Message  string
	err      error
}

// Error returns the message, which is SQLite's if SQLite has the same error.
func (e *Error) Error() string { return e.Message }

// MarshalJSON writes the codes by the names that the error of go-sqlite3 has for them: GORM knows
// the violation of a key by these.
func (e *Error) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, `{"Code":%d,"ExtendedCode":%d}`, e.Code, e.Extended), nil
}

// Unwrap returns the error of the storage engine or of the context, if that is the cause.
func (e *Error) Unwrap() error { return e.err }

// codes are the result codes of other errors than those of SQL.
var codes = []struct {
	err  error
	code int
	text string // replaces the text of the error
}{
	{exec.ErrSpill, CodeIO, ""},
	{exec.ErrInterrupted, CodeInterrupt, ""},
	{context.Canceled, CodeInterrupt, "interrupted"},
	{context.DeadlineExceeded, CodeInterrupt, "interrupted"},
	{sqlitefile.ErrBusy, CodeBusy, "database is locked"},
	{sqlitefile.ErrNotDatabase, CodeNotADB, "file is not a database"},
	{sqlitefile.ErrCorrupt, CodeCorrupt, "database disk image is malformed"},
	{exec.ErrCorrupt, CodeCorrupt, ""},
	{exec.ErrMismatch, CodeMismatch, ""},
	{sqlitefile.ErrReadOnly, CodeReadOnly, "attempt to write a readonly database"},
	{fs.ErrNotExist, CodeCantOpen, "unable to open database file"},
	{value.ErrTooBig, CodeTooBig, ""},
	{sqlitefile.ErrFull, CodeFull, "database or disk is full"},
	{sqlitefile.ErrFault, CodeIO, "disk I/O error"},
	{sqlitefile.ErrMoved, CodeIO, ""},
	{sqlitefile.ErrFailed, CodeIO, ""},
	{sqlitefile.ErrClosed, CodeMisuse, "database is closed"},
	{sqlitefile.ErrSideFile, CodeCantOpen, ""},
}

// asError makes an *Error of any error.
func asError(err error) error {
	var known *Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	e := &Error{Code: CodeError, Message: message(err), err: err}
	for _, c := range codes {
		if errors.Is(err, c.err) {
			e.Code = c.code
			if c.text != "" {
				e.Message = c.text
			}
			break
		}
	}
	e.Extended = e.Code
	if broken, ok := errors.AsType[*sqlitefile.ConstraintError](err); ok {
		e.Code, e.Extended, e.Message = CodeConstraint, constraints[broken.Kind], broken.Error()
		if broken.Kind == sqlitefile.ConstraintForeignKey {
			e.Message = "FOREIGN KEY constraint failed" // SQLite does not say which
		}
		if sqlitefile.Restricted(private.Key{}, err) {
			e.Extended = CodeConstraintTrigger
		}
	}
	return e
}

// constraints are the extended result codes of constraints.
var constraints = map[sqlitefile.Constraint]int{
	sqlitefile.ConstraintNotNull:    CodeConstraintNotNull,
	sqlitefile.ConstraintUnique:     CodeConstraintUnique,
	sqlitefile.ConstraintStrict:     CodeConstraintDataType,
	sqlitefile.ConstraintCheck:      CodeConstraintCheck,
	sqlitefile.ConstraintForeignKey: CodeConstraintForeignKey,
}

// constraintError gives the error of a constraint the extended code of a primary key, if it is one.
func constraintError(rx *sqlitefile.Rx, err error) error {
	broken, ok := errors.AsType[*sqlitefile.ConstraintError](err)
	if !ok || broken.Kind != sqlitefile.ConstraintUnique {
		return err
	}
	code := CodeConstraintUnique
	objects, failed := rx.Objects()
	if failed != nil {
		return failed
	}
	for _, o := range objects {
		if o.Type != "table" || o.Name != broken.Table {
			continue
		}
		t, failed := ddl.ParseTable(o.SQL)
		switch {
		case failed != nil:
			return failed
		case len(broken.Columns) == 1 && strings.EqualFold(broken.Columns[0], "rowid") && t.ColumnIndex("rowid") < 0:
			code = CodeConstraintRowID
		case slices.EqualFunc(broken.Columns, t.PrimaryKey, func(name string, c ddl.IndexedColumn) bool { return strings.EqualFold(name, c.Name) }):
			code = CodeConstraintPrimaryKey
		}
	}
	return &Error{Code: CodeConstraint, Extended: code, Message: broken.Error(), err: err}
}

// message returns the text of an error without the path and the call of the storage engine.
func message(err error) string {
	if e, ok := err.(*fs.PathError); ok && !errors.Is(err, fs.ErrNotExist) {
		err = e.Err
	}
	if e, ok := errors.AsType[*ddl.SyntaxError](err); ok {
		return e.What
	}
	if text, ok := strings.CutPrefix(err.Error(), sqlitefile.ErrUnsupported.Error()+": "); ok {
		return "not supported yet: " + text
	}
	return err.Error()
}

func errorf(code int, message string) error {
	return &Error{Code: code, Extended: code, Message: message}
}

// errReadOnly refuses a statement that would change the database.
var errReadOnly = &Error{Code: CodeReadOnly, Extended: CodeReadOnly, Message: "attempt to write a readonly database"}

func unsupportedOption(what string) error {
	return errorf(CodeError, "not supported yet: "+what)
}
