package sqlitefile

import (
	"cmp"
	"io/fs"
	"path/filepath"

	"github.com/foliofs/folio/internal/osfile"
)

// A buildTarget is where a new database will be, and the temporary file beside it that will become
// it.
type buildTarget struct {
	name    string // without symbolic links
	tmp     *osfile.File
	replace bool
	lazy    bool
}

// newTarget refuses a path at which a new database cannot be, and creates the temporary file.
func newTarget(path string, o *BuildOptions) (*buildTarget, error) {
	name, err := osfile.Resolve(path)
	if err != nil {
		return nil, err
	}
	t := &buildTarget{name: name, replace: o.Replace, lazy: o.NoSync}
	_, exists, err := osfile.Exists(name)
	if err != nil || exists && !o.Replace {
		return nil, cmp.Or(err, fs.ErrExist)
	}
	if !exists {
		if err := t.checkStray(); err != nil {
			return nil, err
		}
	}
	create := osfile.CreateTemp
	if exists || o.private {
		create = osfile.CreatePrivate
	}
	t.tmp, err = osfile.CreateLive(filepath.Dir(name), create)
	return t, err
}

// RemoveAbandoned removes the temporary files in a directory that Build and BackupFile left because
// their process was killed. It does not touch those of running processes, nor any where the system
// has no locks to tell which is which.
func RemoveAbandoned(dir string) error { return osfile.RemoveDead(dir) }

// IsTemporary reports whether name, which is without a directory, is the name of a temporary file
// that Build and BackupFile write next to their target. A program that reads a directory
// while a database is built there can skip these files.
func IsTemporary(name string) bool { return osfile.IsLiveName(name) }

func (t *buildTarget) install() error {
	switch {
	case t.replace && t.lazy:
		return osfile.Replace(t.tmp, t.name)
	case t.replace:
		return osfile.ReplaceDurably(t.tmp, t.name)
	case t.lazy:
		return osfile.Place(t.tmp, t.name)
	}
	return osfile.PlaceDurably(t.tmp, t.name)
}
