package dberr

import (
	"fmt"
	"path/filepath"
)

// A mispairedError names the log or the journal that belongs to another file. It matches
// ErrMispaired.
type mispairedError struct{ name string }

func (e mispairedError) Error() string {
	name := filepath.Base(e.name)
	return fmt.Sprintf("%v: end the programs that still have that file open, and remove %s, or put that file back", ErrMispaired, name)
}

func (e mispairedError) Is(target error) bool { return target == ErrMispaired }

// Mispaired makes the error for a log or a journal of this name that belongs to another file.
func Mispaired(name string) error { return mispairedError{name} }
