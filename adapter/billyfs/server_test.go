//go:build unix

package billyfs_test

import (
	"testing"

	"github.com/foliofs/folio/adapter/internal/onserver"
)

// TestServerSuite runs the conformance suite on a volume on a server of PostgreSQL.
func TestServerSuite(t *testing.T) {
	t.Parallel()
	runSuite(t, inDirectories(t, onserver.New(t).Volume(t)))
}
