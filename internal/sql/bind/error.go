package bind

import (
	"errors"
	"fmt"
)

var errTooManyColumns = errors.New("too many columns in result set")

// An UnsupportedError names a part of SQL that the engine does not know yet.
type UnsupportedError struct{ What string }

// Error returns one line that names the part.
func (e *UnsupportedError) Error() string { return "not supported yet: " + e.What }

func unsupported(format string, args ...any) error {
	return &UnsupportedError{fmt.Sprintf(format, args...)}
}
