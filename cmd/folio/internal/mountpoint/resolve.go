package mountpoint

import (
	"os"
	"path/filepath"
	"strings"
)

// Resolve returns the absolute path of a directory without symbolic links, as the kernel lists it.
// The directory may be, or be in, a mount whose daemon does not answer: nothing is asked of it, as
// a question could hang for ever, and the rest of the path stays as it is.
func Resolve(dir string) (string, error) {
	mounts, err := list()
	if err != nil {
		return "", err
	}
	return resolve(mounts, dir)
}

// mostLinks is how many symbolic links are followed.
const mostLinks = 255

func resolve(mounts []Mount, dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if len(mounts) == 0 { // not on Linux
		if real, err := filepath.EvalSymlinks(abs); err == nil {
			return real, nil
		}
		return abs, nil
	}
	real, rest := "/", abs
	for links := 0; rest != "" && links < mostLinks; {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		next := filepath.Join(real, name) // "", "." and ".." as well
		if m, ok := at(mounts, next); ok && m.isFUSE() {
			if rest == "" || m.answer() != nil {
				real = next
				break
			}
		} else if target, err := os.Readlink(next); err == nil {
			links++
			rest = target + "/" + rest
			if filepath.IsAbs(target) {
				real = "/"
			}
			continue
		}
		real = next
	}
	return filepath.Join(real, rest), nil
}

// reachable returns an error if a resolved path is a mount whose daemon does not answer, or is in
// one, which is then returned.
func reachable(mounts []Mount, real string) (Mount, error) {
	for _, dir := range upward(real) {
		if m, ok := at(mounts, dir); ok && m.isFUSE() {
			if err := m.answer(); err != nil {
				return m, err
			}
		}
	}
	return Mount{}, nil
}
