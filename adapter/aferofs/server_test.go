//go:build unix

package aferofs_test

import (
	"testing"

	"github.com/foliofs/folio/adapter/internal/volumes"
)

// TestServerSuite runs the tests of TestSuite on a server of PostgreSQL.
func TestServerSuite(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: this builds the tests of the package a second time")
	}
	t.Parallel()
	runSuite(t, volumes.NewServer(t).Environ())
}
