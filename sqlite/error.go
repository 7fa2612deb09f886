package sqlite

import (
	"context"
	"errors"
	"io/fs"

	"github.com/foliofs/folio/internal/sql/exec"
	"github.com/foliofs/folio/internal/sql/value"
	"github.com/foliofs/folio/sqlitefile"
)

// Result codes of SQLite that an [Error] can have.
const (
	CodeError     = 1
	CodeBusy      = 5
	CodeReadOnly  = 8
	CodeInterrupt = 9
	CodeIO        = 10
	CodeCorrupt   = 11
	CodeCantOpen  = 14
	CodeTooBig    = 18
	CodeMismatch  = 20
	CodeRange     = 25
	CodeNotADB    = 26
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
	{sqlitefile.ErrFault, CodeIO, "disk I/O error"},
}

// asError makes an *Error of any error.
func asError(err error) error {
	var known *Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	e := &Error{Code: CodeError, Message: err.Error(), err: err}
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
	return e
}

// errReadOnly refuses a statement that would change the database.
var errReadOnly = &Error{Code: CodeReadOnly, Extended: CodeReadOnly, Message: "attempt to write a readonly database"}
