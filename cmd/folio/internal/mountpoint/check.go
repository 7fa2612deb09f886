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
	mounts, err := list()
	if err != nil {
		return "", err
	}
	real, err := resolve(mounts, dir)
	if err != nil {
		return "", failure.At(dir, err)
	}
	if m, err := reachable(mounts, real); err != nil {
		return "", m.failure(dir, real, err)
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", failure.Hint(failure.At(dir, err), "make the directory first")
	case err != nil:
		return "", failure.At(dir, err)
	case !info.IsDir():
		return "", failure.Rehint(failure.At(dir, failure.ErrNotDir), "a volume is mounted at a directory")
	}
	if err := checkMounts(mounts, dir, real, volume); err != nil {
		return "", err
	}
	if nonempty {
		return real, nil
	}
	return real, checkEmpty(dir)
}

// checkMounts refuses a directory because of a mount there, or around it.
func checkMounts(mounts []Mount, dir, real, volume string) error {
	if m, ok := at(mounts, real); ok && m.IsVolume() && m.isOf(mounts, volume) {
		return failure.Rehint(failure.At(dir, errAlready), "folio unmount "+dir+" unmounts it")
	}
	if m, ok := around(mounts, real); ok && m.IsVolume() && m.isOf(mounts, volume) {
		err := fmt.Errorf("lies in the mount of this volume at %s", m.Dir)
		return failure.Rehint(failure.At(dir, err), "choose a directory outside of it")
	}
	file, err := resolve(mounts, volume)
	if err != nil {
		return failure.At(volume, err)
	}
	if strings.HasPrefix(file, strings.TrimSuffix(real, "/")+"/") {
		return failure.Rehint(failure.At(dir, errHides), "choose another directory")
	}
	return nil
}

// isOf reports whether a name on disk is the mounted volume.
func (m *Mount) isOf(mounts []Mount, volume string) bool {
	return location.SameFile(m.location(mounts).Volume, volume)
}

// Location returns the mounted volume and its directory.
func (m *Mount) Location() location.Location {
	mounts, _ := list()
	return m.location(mounts)
}

// location tells the volume from the path in it by looking for the file. If it is in a mount whose
// daemon does not answer, the volume is the part before the first colon.
func (m *Mount) location(mounts []Mount) location.Location {
	if location.OnServer(m.Source) {
		return location.Parse(m.Source)
	}
	if real, err := resolve(mounts, m.Source); err == nil {
		if _, err := reachable(mounts, real); err == nil {
			return location.Parse(m.Source)
		}
	}
	volume, path, _ := strings.Cut(m.Source, ":")
	return location.Location{Volume: volume, Path: location.Clean(path)}
}

// failure returns the error of a directory that is a mount whose daemon does not answer, or is in
// it.
func (m *Mount) failure(dir, real string, err error) error {
	cause, shown := errStale, m.Dir
	if real == m.Dir {
		shown = filepath.Clean(dir)
	}
	way := "folio unmount " + shown + " heals it"
	switch {
	case err == errSilent:
		cause, way = errSilent, "folio unmount --force "+shown+" ends it"
	case !isStale(err):
		return failure.At(dir, err)
	}
	if real != m.Dir {
		cause = fmt.Errorf("lies in %s, which %w", m.Dir, cause)
	}
	if !m.IsVolume() {
		way = ""
	}
	return failure.Rehint(failure.At(dir, cause), way)
}

// checkEmpty refuses to hide files under a mount.
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
