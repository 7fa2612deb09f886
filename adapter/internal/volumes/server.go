//go:build unix

package volumes

import (
	"context"
	"strconv"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
	"github.com/foliofs/folio/pgstore"
)

// A Server makes empty volumes. It ends with the test.
type Server struct {
	server  *pgserver.Server
	volumes int
}

// NewServer starts a server. The test is skipped if none is installed.
func NewServer(t testing.TB) *Server {
	t.Helper()
	return &Server{server: pgserver.ForTest(t)}
}

// Environ returns a variable for an [upstream.Suite] with the address of a volume. Tests that need
// several volumes add something to its end.
func (s *Server) Environ() []string {
	return []string{"FOLIO_SUITE_SERVER=" + s.server.Address("suite")}
}

// Volume makes an empty volume, which must be whole at the end of the test.
func (s *Server) Volume(t testing.TB) *folio.Volume {
	t.Helper()
	s.volumes++
	vol, err := pgstore.Open(context.Background(), s.server.Address("v"+strconv.Itoa(s.volumes)), &pgstore.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { end(t, vol) })
	return vol
}
