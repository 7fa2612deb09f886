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
