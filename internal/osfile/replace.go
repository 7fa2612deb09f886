package osfile

import (
	"errors"
	"io/fs"
	"os"
)

func (system) Rename(from, to string) error {
	if err := adoptFile(from, to); err != nil {
		return pathError("rename", to, err)
	}
	return pathError("rename", to, os.Rename(from, to))
}

// adoptFile lets a file have the owner and the permissions of the regular file that it is to replace, if there is one.
func adoptFile(from, to string) error {
	info, err := os.Lstat(to)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return kindError(info.Mode())
	}
	if err := adoptOwner(from, info); err != nil {
		return err
	}
	return os.Chmod(from, info.Mode().Perm())
}

// Named reports whether the file still has a name, under which others can open it. Where the system does not tell, it says so.
func (f *File) Named() bool { return f.closed.Load() || f.d.named() }
