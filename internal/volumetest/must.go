package volumetest

import (
	"go/build"
	"os"
	"path/filepath"
	"testing"
)

// Must ends the test if err is not nil.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Second returns the error of a call with two results.
func Second[T any](_ T, err error) error { return err }

// MustSecond returns a function that ends the test if its second argument, the error of a call such
// as Seek, is not nil.
func MustSecond(t *testing.T) func(int64, error) {
	return func(_ int64, err error) {
		t.Helper()
		Must(t, err)
	}
}

// Goroot returns the path of dir in the Go distribution. It skips the test if the distribution has
// no sources.
func Goroot(t testing.TB, dir string) string {
	t.Helper()
	dir = filepath.Join(build.Default.GOROOT, filepath.FromSlash(dir))
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no source of Go here: %v", err)
	}
	return dir
}
