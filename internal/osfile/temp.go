package osfile

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// CreateTemp creates a new file in dir for reading and writing, with the permissions that SQLite
// gives a new database. The last "*" in the pattern, or its end, becomes a number that makes the
// name new. A file that shall replace another must be made in that one's directory:
//
//	name, err = osfile.Resolve(name)
//	tmp, err := osfile.CreateTemp(filepath.Dir(name), ".name-*.tmp")
//	defer tmp.Discard()
//	...
//	return osfile.ReplaceDurably(tmp, name)
func CreateTemp(dir, pattern string) (*File, error) {
	return createTemp(dir, pattern, 0o644)
}

// CreatePrivate is CreateTemp for a file that only this user can read and write until Adopt or
// ReplaceDurably says otherwise. A file that is to replace another must not be open to more users
// than that file, even while it is written.
func CreatePrivate(dir, pattern string) (*File, error) {
	return createTemp(dir, pattern, 0o600)
}

// CreateScratch creates a private file without a name in a directory, by default the one of the
// system for temporary files. The file vanishes with its Close or with the process. If the system
// keeps the names of open files, it is a temporary file that Discard removes.
func CreateScratch(dir string) (*File, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	f, err := createTemp(dir, ".scratch-*.tmp", 0o600)
	if err == nil && os.Remove(f.name) == nil {
		f.temp = false
	}
	return f, err
}

func createTemp(dir, pattern string, perm fs.FileMode) (*File, error) {
	prefix, suffix := pattern, ""
	if i := strings.LastIndexByte(pattern, '*'); i >= 0 {
		prefix, suffix = pattern[:i], pattern[i+1:]
	}
	for {
		name := filepath.Join(dir, prefix+strconv.FormatUint(rand.Uint64(), 36)+suffix)
		f, err := Open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, pathError("createtemp", dir, err)
		}
		f.temp = true
		return f, nil
	}
}

// ReplaceDurably gives a temporary file its name, in place of a regular file that may have it.
// After a power cut the name leads to the old file or to the complete new one; after ReplaceDurably
// has returned without an error, to the new one. Symbolic links in the name are followed. The new
// file gets the permissions of the replaced file, and its owner and group as far as the system
// allows it (Adopt), unless Adopt has set them before.
//
// tmp is closed in any case. After an error it is removed and the name is untouched, except that
// when only the last step failed, the sync of the directory, the new file is there and may not
// survive a power cut.
func ReplaceDurably(tmp *File, name string) error { return replace(tmp, name, tmp.install) }

// PlaceDurably is ReplaceDurably for a name that must be free, of symbolic links as well: otherwise
// it gives fs.ErrExist.
func PlaceDurably(tmp *File, name string) error { return place(tmp, name, tmp.install) }

// install syncs the file, then renames it, then syncs the directory: no crash shows the name
// without the content. In a directory that the process may not read the file is synced once more
// instead.
func (f *File) install(resolved string, rename func(from, to string) error) error {
	if err := f.Sync(); err != nil {
		return err
	}
	dir, err := openDir(filepath.Dir(resolved))
	readable := !errors.Is(err, fs.ErrPermission)
	if err != nil && readable {
		return err // while the name is untouched
	}
	if readable {
		defer dir.Close()
	}
	if err := f.rename(resolved, rename); err != nil {
		return err
	}
	if !readable {
		return f.syncName()
	}
	return dir.sync()
}

// adoptReplaced takes over the access of the regular file that tmp is to replace, if there is a
// file, unless tmp has adopted another.
func adoptReplaced(tmp *File, resolved string) error {
	a, err := replacedAccess(resolved)
	if err != nil || a == nil || tmp.adopted {
		return err
	}
	return tmp.d.adopt(*a)
}

// renameByLink renames without replacing, in two steps: a crash between them leaves the file with
// both names.
func renameByLink(from, to string) error {
	if err := os.Link(from, to); err != nil {
		return err
	}
	err := os.Remove(from)
	if err != nil {
		_ = os.Remove(to)
	}
	return err
}

// Sync returns when the content and the size are on stable storage. After an error the state of the
// file on disk is unknown. A second Sync that succeeds says nothing about the writes before the
// first. So the caller must no longer rely on its copy in memory.
func (f *File) Sync() error {
	if f.closed.Load() {
		return f.fail("sync", fs.ErrClosed)
	}
	return f.fail("sync", f.sync())
}
