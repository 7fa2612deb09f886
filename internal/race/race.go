// Package race lets tests leave themselves out when the race detector runs.
package race

import "testing"

// Skip skips a short run of a test under the race detector. A test should call it first if the
// detector can find nothing there that other tests do not show, and would make it too long: for
// example, if it calls from one goroutine, or runs other processes. why names the reason.
func Skip(t testing.TB, why string) {
	t.Helper()
	if Enabled && testing.Short() {
		t.Skip("without the race detector only: " + why)
	}
}
