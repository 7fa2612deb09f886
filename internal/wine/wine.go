// Package wine tells tests whether they run under Wine, which is not Windows in everything. Tests
// that cannot pass there for a reason of its own are skipped with that reason.
package wine

import "testing"

// Skip skips a test under Wine.
func Skip(t testing.TB, reason string) {
	t.Helper()
	if Here() {
		t.Skip("skipped under Wine:", reason)
	}
}
