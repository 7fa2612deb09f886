package volumetest

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"

	"github.com/foliofs/folio"
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
	r, err := v.Check(t.Context(), nil)
	Must(t, err)
	if !r.OK() {
		t.Fatalf("%+v", r.Problems)
	}
}

// WantFull fails the test unless err says that the volume is full. The text names the call.
func WantFull(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, folio.ErrFull) || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%s: %v, want ErrFull", what, err)
	}
}

// WantWithin fails the test if the volume's file is larger than size bytes.
func WantWithin(t *testing.T, v *folio.Volume, size int64) {
	t.Helper()
	info, err := v.Info(t.Context())
	Must(t, err)
	if info.Size > size {
		t.Errorf("%d bytes of %d", info.Size, size)
	}
}
