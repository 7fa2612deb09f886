//go:build unix

package billyfs_test

import (
	"testing"

	"github.com/foliofs/folio/adapter/internal/volumes"
)

// TestServerSuite runs the conformance suite on a volume on a server of PostgreSQL.
func TestServerSuite(t *testing.T) {
	t.Parallel()
	runSuite(t, inDirectories(t, volumes.NewServer(t).Volume(t)))
}
