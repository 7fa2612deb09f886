package ddl

import (
	"errors"
	"fmt"
)

// Limits. SQLite's own are 1,000,000,000 bytes of text, and 2,000 columns unless it was built for
// up to 32,767. The other limits keep hostile text from taking more memory than a small multiple of
// its length.
const (
	maxText    = 1_000_000_000
	maxColumns = 32_767
	maxTerms   = 1 << 20
)

// A SyntaxError says at which place a statement stops being valid for SQLite.
type SyntaxError struct {
	Offset int    // bytes from the start of the text, -1 if SQLite reports none
	What   string // one line, without the offset: SQLite's message for a text that does not parse
}

// Error formats the error on one line.
func (e *SyntaxError) Error() string {
	if e.Offset < 0 {
		return "SQL: " + e.What
	}
	return fmt.Sprintf("SQL: %s (at byte %d)", e.What, e.Offset)
}

// ErrNoColumn says that a table has no column of a name.
var ErrNoColumn = errors.New("no such column")

// A noColumnError is a SyntaxError that matches ErrNoColumn.
type noColumnError struct{ *SyntaxError }

func (e noColumnError) Is(target error) bool { return target == ErrNoColumn }

func (e noColumnError) Unwrap() error { return e.SyntaxError }

// clip shortens text for an error message.
func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}
