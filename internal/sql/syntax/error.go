package syntax

// An Error says why a text is not a statement, with the message of SQLite.
type Error struct {
	Message string
	Offset  int // in bytes, as sqlite3_error_offset: -1 if SQLite reports none
}

// Error returns the message of SQLite without the offset.
func (e *Error) Error() string { return e.Message }
