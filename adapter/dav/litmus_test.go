package dav_test

import (
	"net/http/httptest"
	"os/exec"
	"regexp"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/adapter/dav"
)

// TestLitmus runs litmus, the conformance suite of WebDAV servers, against a volume.
func TestLitmus(t *testing.T) {
	t.Parallel()
	runLitmus(t, newVolume)
}

func runLitmus(t *testing.T, volume func(t testing.TB) *folio.Volume) {
	litmus, err := exec.LookPath("litmus")
	if err != nil {
		t.Skip("litmus is not installed")
	}
	vol := volume(t)
	server := httptest.NewServer(dav.NewHandler(vol, nil))
	defer server.Close()
	cmd := exec.CommandContext(t.Context(), litmus, "-k", server.URL+"/")
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
	if len(summaries) != 5 {
		t.Errorf("litmus summed up %d suites, want 5", len(summaries))
	}
	if t.Failed() || testing.Verbose() {
		t.Logf("%s", out)
	}
}
