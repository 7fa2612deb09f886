package volumetest

import (
	"testing"

	"github.com/foliofs/folio/internal/invariant"
)

// Quick reports whether tests should end as soon as they can: by "go test -short", which a user
// runs after a clone. It does not under the race detector, although that runs with -short, too: it
// looks for what goroutines do to each other.
func Quick() bool { return testing.Short() && !invariant.Enabled }

// InQuick returns few for quick tests, and otherwise many.
func InQuick(few, many int) int {
	if Quick() {
		return few
	}
	return many
}
