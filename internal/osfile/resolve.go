package osfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// maxLinks bounds the chain of symbolic links that leads to a file still to be created.
const maxLinks = 40

// Resolve returns the absolute path, free of symbolic links, of the file that Open would open, or
// with O_CREATE create, under this name. It need not exist, its directory must.
func Resolve(name string) (string, error) {
	resolved, err := resolve(name, os.O_CREATE)
	return resolved, pathError("open", name, err)
}

// resolve returns the absolute path, free of symbolic links, of the file that open(2) with these
// flags would open or create. With NoFollow the last element may be a link.
func resolve(name string, flag int) (string, error) {
	if name == "" {
		return "", syscall.ENOENT
	}
	name, err := absolute(name)
	if err != nil {
		return "", err
	}
	if flag&NoFollow != 0 {
		return resolveParent(name)
	}
	if flag&os.O_CREATE == 0 {
		return filepath.EvalSymlinks(name)
	}
	if flag&os.O_EXCL != 0 {
		return resolveParent(name)
	}
	return resolveCreate(name)
}

// absolute makes name absolute without simplifying it: on unix "link/../x" is not "x".
func absolute(name string) (string, error) {
	if runtime.GOOS == "windows" {
		return filepath.Abs(name) // Windows itself simplifies before it looks
	}
	if filepath.IsAbs(name) {
		return name, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	// Getwd may answer with $PWD, where a later ".." would be taken back through a link.
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", err
	}
	return dir + string(filepath.Separator) + name, nil
}

// resolveParent resolves all but the last element, which must not exist or be no link.
func resolveParent(name string) (string, error) {
	dir, base := filepath.Split(name)
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, base), nil
}

// resolveCreate resolves a name that may be missing, or be a link to a missing file: that file will
// be created.
func resolveCreate(name string) (string, error) {
	for range maxLinks {
		resolved, err := filepath.EvalSymlinks(name)
		if !errors.Is(err, fs.ErrNotExist) {
			return resolved, err
		}
		if name, err = resolveParent(name); err != nil {
			return "", err
		}
		target, err := os.Readlink(name)
		if err != nil {
			return name, nil // no link: the missing file itself
		}
		if !filepath.IsAbs(target) {
			target = filepath.Dir(name) + string(filepath.Separator) + target
		}
		name = target
	}
	return "", syscall.ELOOP
}
