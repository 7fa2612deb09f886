// Package invariant checks what must hold unless our own code is wrong. Bytes from a file are never its business:
// they give errors.
//
// Checks are compiled in by the build tag invariants and in race builds, and cost nothing otherwise.
// Where computing the condition has a cost of its own, put it behind Enabled:
//
//	if invariant.Enabled {
//		invariant.Check(p.sorted(), "page %d: cells out of order", p.no)
//	}
package invariant

import "fmt"

// Check panics with the formatted message if checks are compiled in and ok is false.
func Check(ok bool, format string, args ...any) {
	if Enabled && !ok {
		panic("invariant: " + fmt.Sprintf(format, args...))
	}
}
