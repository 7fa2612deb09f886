package mountpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
)

// Errors of directories that a volume cannot be mounted at.
var (
	errStale   = errors.New("is a mount whose daemon is gone")
	errAlready = errors.New("has this volume mounted already")
	errHides   = errors.New("has the volume itself in it, which would be hidden")
)

// Check returns the resolved path of a directory, or says why a volume cannot be mounted at it.
// nonempty lets the directory have files in it, which are hidden while the volume is mounted.
func Check(dir, volume string, nonempty bool) (string, error) {
	info, err := os.Stat(dir)
	switch {
	case isStale(err):
		return "", staleError(dir)
	case errors.Is(err, fs.ErrNotExist):
		return "", failure.Hint(failure.At(dir, err), "make the directory first")
	case err != nil:
		return "", failure.At(dir, err)
	case !info.IsDir():
		return "", failure.Rehint(failure.At(dir, failure.ErrNotDir), "a volume is mounted at a directory")
	}
	real, err := Resolve(dir)
	if err != nil {
		return "", failure.At(dir, err)
	}
	if err := checkMounts(dir, real, volume); err != nil {
		return "", err
	}
	if nonempty {
		return real, nil
	}
	return real, checkEmpty(dir)
}

// checkMounts refuses a directory for what is mounted there, or around it.
func checkMounts(dir, real, volume string) error {
	mounts, err := list()
	if err != nil {
		return err
	}
	if m, ok := at(mounts, real); ok && m.IsVolume() {
		switch {
		case isStale(answer(real)):
			return staleError(dir)
		case m.isOf(volume):
			return failure.Rehint(failure.At(dir, errAlready), "folio unmount "+dir+" unmounts it")
		}
	}
	if m, ok := around(mounts, real); ok && m.IsVolume() && m.isOf(volume) {
		err := fmt.Errorf("lies in the mount of this volume at %s", m.Dir)
		return failure.Rehint(failure.At(dir, err), "choose a directory outside of it")
	}
	file, err := Resolve(volume)
	if err != nil {
		return failure.At(volume, err)
	}
	if strings.HasPrefix(file, strings.TrimSuffix(real, "/")+"/") {
		return failure.Rehint(failure.At(dir, errHides), "choose another directory")
	}
	return nil
}

// isOf reports whether a mounted volume is that of a name on disk.
func (m *Mount) isOf(volume string) bool {
	return location.SameFile(location.Parse(m.Source).Volume, volume)
}

func staleError(dir string) error {
	return failure.Rehint(failure.At(dir, errStale), "folio unmount "+filepath.Clean(dir)+" heals it")
}

func checkEmpty(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return failure.At(dir, err)
	}
	defer f.Close()
	switch _, err := f.Readdirnames(1); err {
	case io.EOF:
		return nil
	case nil:
		return failure.Rehint(failure.At(dir, failure.ErrNotEmpty), "--nonempty hides what is in it while the volume is mounted")
	default:
		return failure.At(dir, err)
	}
}
