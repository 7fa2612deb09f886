package aferofs_test

import (
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/foliofs/folio/adapter/internal/upstream"
)

// TestSuite runs all tests of afero with Folio in place of the operating system: testdata/suite has
// an OsFs that is an Fs of this package, and a TestMain that makes the volume. One test is left
// out, as it makes its symbolic link with os.Symlink.
func TestSuite(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds afero anew")
	}
	t.Parallel()
	runSuite(t, nil)
}

// runSuite runs the tests with variables that say where the volume is.
func runSuite(t *testing.T, env []string) {
	suite := upstream.Suite{
		Module: "github.com/spf13/afero",
		Dir:    ".",
		Add:    filepath.Join("testdata", "suite"),
		Skip:   "^TestLstatIfPossible$",
		Env:    env,
	}
	passed, out := suite.Run(t)
	t.Logf("%d tests passed", passed)
	if passed < 80 { // of 85 in version 1.15
		t.Errorf("only %d tests passed", passed)
	}
	made := regexp.MustCompile(`files made in the volume: (\d+)`).FindStringSubmatch(out)
	if made == nil {
		t.Fatal("nothing says how many files the tests made")
	}
	if n, _ := strconv.Atoi(made[1]); n < 100 {
		t.Errorf("the tests made %d files in the volume: what did they run on?", n)
	}
}
