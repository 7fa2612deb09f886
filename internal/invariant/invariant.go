// Package invariant checks conditions that only an error in our own code can break. It must not be
// used for bytes from a file: they give errors.
//
// Checks are compiled in by the build tag invariants and in race builds, and cost nothing
// otherwise. Where computing the condition has a cost of its own, put it behind Enabled:
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
