package serve

import (
	"testing"
	"time"
)

// LookEvery sets how often servers look whether a volume was replaced, until the test ends.
func LookEvery(t testing.TB, d time.Duration) {
	old := lookEvery
	lookEvery = d
	t.Cleanup(func() { lookEvery = old })
}

// StallTime sets how long servers wait for a client that stands still, until the test ends.
func StallTime(t testing.TB, d time.Duration) {
	stall, extend := stallTime, extendTime
	stallTime, extendTime = d, d/10
	t.Cleanup(func() { stallTime, extendTime = stall, extend })
}

// IdleTime sets how long servers keep a connection after an answer, until the test ends.
func IdleTime(t testing.TB, d time.Duration) {
	old := idleTime
	idleTime = d
	t.Cleanup(func() { idleTime = old })
}

// OneAddress sets how many connections and requests of one address servers take at once, until the
// test ends.
func OneAddress(t testing.TB, n int) {
	old := oneAddress
	oneAddress = n
	t.Cleanup(func() { oneAddress = old })
}

// RecordLimits sets how many names a link makes and a user has links, and how many uploads that are
// not complete there are of one, until the test ends.
func RecordLimits(t testing.TB, names, open int) {
	oldOpen, oldNames, oldLinks := maxOpenUploads, maxLinkNames, maxUserLinks
	maxOpenUploads, maxLinkNames, maxUserLinks = open, names, names
	t.Cleanup(func() { maxOpenUploads, maxLinkNames, maxUserLinks = oldOpen, oldNames, oldLinks })
}

// Sweep removes what servers keep no longer.
func Sweep(t testing.TB, s *Server) {
	for _, tree := range s.trees {
		s.sweep(t.Context(), tree)
	}
}

// ReadEvery sets how often servers look whether their files have changed, until the test ends.
func ReadEvery(t testing.TB, d time.Duration) {
	old := readEvery
	readEvery = d
	t.Cleanup(func() { readEvery = old })
}

// CertificateWarning returns what a server would say of its certificate at a time.
func CertificateWarning(s *Server, at time.Time) string { return s.certificateWarning(at) }

// CloseResponseCache lets package http answer all requests to a server.
func CloseResponseCache(s *Server) { s.cached = nil }

// Repeated returns how many requests the response cache of a server has answered.
func Repeated(s *Server) int { return int(s.metrics.repeated.Load()) }

// Active returns how many requests a server answers now.
func Active(s *Server) int { return int(s.metrics.active.Load()) }
