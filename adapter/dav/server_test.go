//go:build unix

package dav_test

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

// TestServerLitmus runs litmus against a volume on a server.
func TestServerLitmus(t *testing.T) {
	t.Parallel()
	runLitmus(t, volumes.NewServer(t).Volume)
}
