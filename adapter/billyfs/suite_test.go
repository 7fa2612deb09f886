package billyfs_test

import (
	"strings"
	"testing"

	billytest "github.com/go-git/go-billy/v5/test"
	"gopkg.in/check.v1"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/adapter/billyfs"
	"github.com/foliofs/folio/adapter/internal/volumes"
)

// A suite is the conformance suite of go-billy. Each of its tests gets an FS of its own.
type suite struct {
	billytest.FilesystemSuite
	fs  func(test string) *billyfs.FS
	few bool // leave out the test that makes 100,000 temporary files
}

// SetUpTest is called by package check.
func (s *suite) SetUpTest(c *check.C) {
	s.FilesystemSuite = billytest.NewFilesystemSuite(s.fs(c.TestName()))
}

func (s *suite) TestTempFileMany(c *check.C) {
	if s.few {
		c.Skip("it takes long, and another run does it")
	}
	s.TempFileSuite.TestTempFileMany(c)
}

func (s *suite) TestTempFileManyWithUtil(c *check.C) {
	if s.few {
		c.Skip("it takes long, and another run does it")
	}
	s.TempFileSuite.TestTempFileManyWithUtil(c)
}

// TestSuite runs the conformance suite of go-billy at the root of a volume, and in a directory of a
// volume that all its tests share.
func TestSuite(t *testing.T) {
	shared := volumes.New(t)
	t.Run("root", func(t *testing.T) {
		t.Parallel()
		runSuite(t, &suite{fs: func(string) *billyfs.FS { return billyfs.New(volumes.New(t)) }, few: testing.Short()})
	})
	t.Run("chroot", func(t *testing.T) {
		t.Parallel()
		runSuite(t, inDirectories(t, shared))
	})
}

// inDirectories is the suite with a directory of one volume for each test, without the test that
// makes 100,000 temporary files.
func inDirectories(t *testing.T, vol *folio.Volume) *suite {
	root := billyfs.New(vol)
	return &suite{few: true, fs: func(test string) *billyfs.FS {
		dir, err := root.Chroot("suite/" + test)
		if err != nil {
			t.Fatal(err)
		}
		return dir.(*billyfs.FS)
	}}
}

func runSuite(t *testing.T, s *suite) {
	t.Helper()
	var out strings.Builder
	result := check.Run(s, &check.RunConf{Output: &out})
	if !result.Passed() || result.Succeeded < 95 { // of 97 in version 5.9
		t.Errorf("%v\n%s", result, &out)
	}
	t.Log(result)
}
