package volumetest

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
)

// WantFile fails the test unless the file has the content want.
func WantFile(t *testing.T, v interface {
	ReadFile(name string) ([]byte, error)
}, name, want string,
) {
	t.Helper()
	if got, err := v.ReadFile(name); err != nil || string(got) != want {
		t.Errorf("%s: %.50q, %v; want %.50q", name, got, err, want)
	}
}

// WantNone fails the test if there is a file of that name.
func WantNone(t *testing.T, v interface {
	Lstat(name string) (fs.FileInfo, error)
}, name string,
) {
	t.Helper()
	if _, err := v.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s: %v, want fs.ErrNotExist", name, err)
	}
}

// WantClean ends the test if Check finds a problem in the volume.
func WantClean(t testing.TB, v *folio.Volume) {
	t.Helper()
	must.Do(t, Clean(v))
}
