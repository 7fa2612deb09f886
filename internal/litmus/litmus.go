// Package litmus runs litmus, the conformance suite of WebDAV servers, for tests.
package litmus

import (
	"os/exec"
	"regexp"
	"testing"
)

// suites is how many suites litmus has.
const suites = 5

// Run runs all suites against the collection at url. The test is skipped if litmus is not
// installed.
func Run(t testing.TB, url string) {
	t.Helper()
	program, err := exec.LookPath("litmus")
	if err != nil {
		t.Skip("litmus is not installed")
	}
	cmd := exec.CommandContext(t.Context(), program, "-k", url)
	cmd.Dir = t.TempDir() // it leaves logs behind
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("litmus: %v", err)
	}
	summaries := regexp.MustCompile("<- summary for `(\\w+)': of \\d+ tests run: (\\d+) passed, (\\d+) failed").FindAllSubmatch(out, -1)
	for _, s := range summaries {
		t.Logf("%s: %s passed, %s failed", s[1], s[2], s[3])
		if string(s[3]) != "0" {
			t.Errorf("%s: %s failed", s[1], s[3])
		}
	}
	for _, line := range regexp.MustCompile("(?m)^.*WARNING.*$").FindAll(out, -1) {
		t.Errorf("%s", line)
	}
	if len(summaries) != suites {
		t.Errorf("litmus summed up %d suites, want %d", len(summaries), suites)
	}
	if t.Failed() || testing.Verbose() {
		t.Logf("%s", out)
	}
}
