package dav_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio/adapter/internal/upstream"
)

// TestSuite runs the tests of golang.org/x/net/webdav with volumes in place of its file systems in
// memory. Left out are those of that implementation itself, and one that wants the ETags of package
// webdav, which differ from ours.
func TestSuite(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds webdav anew")
	}
	t.Parallel()
	runSuite(t, nil)
}

// runSuite runs the tests with variables that say where the volumes are.
func runSuite(t *testing.T, env []string) {
	suite := upstream.Suite{
		Module: "golang.org/x/net",
		Dir:    "webdav",
		Add:    filepath.Join("testdata", "suite"),
		Skip:   "^(TestWalk|TestMemFSRoot|TestMemFile.*|TestFindETagOverride)$",
		Edit: []upstream.Edit{{
			File: "file.go",
			Old:  "func NewMemFS() FileSystem {",
			New:  "var NewFolio func() FileSystem\n\nfunc NewMemFS() FileSystem { return NewFolio() }\n\nfunc newMemFS() FileSystem {",
		}},
		Env: env,
	}
	passed, out := suite.Run(t)
	t.Logf("%d tests passed", passed)
	if passed < 25 { // of 26 in version 0.62
		t.Errorf("only %d tests passed", passed)
	}
	if !strings.Contains(out, "volumes made: 29\n") {
		t.Errorf("the tests made another number of volumes than 29:\n%s", out)
	}
}
