package sqlitefile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"

	"github.com/foliofs/folio/internal/osfile"
)

// A buildTarget is where a new database will be, and the temporary file beside it that will become it.
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
	if _, exists, err := osfile.Exists(name); err != nil || exists && !o.Replace {
		return nil, cmp.Or(err, fs.ErrExist)
	}
	if err := t.checkCompanions(); err != nil {
		return nil, err
	}
	t.tmp, err = osfile.CreateTemp(filepath.Dir(name), ".build-*.tmp")
	return t, err
}

// checkCompanions refuses a journal or a log that SQLite would take for the new database's own, and destroy it with.
func (t *buildTarget) checkCompanions() error {
	for _, suffix := range []string{"-journal", "-wal"} {
		size, exists, err := osfile.Exists(t.name + suffix)
		if err != nil {
			return err
		}
		if exists && size > 0 {
			return fmt.Errorf("%w: a %s of another database is in the way", fs.ErrExist, suffix)
		}
	}
	return nil
}

// place gives the finished file its name. A database that it replaces must not be in use.
func (t *buildTarget) place() (err error) {
	if err := t.checkCompanions(); err != nil {
		return err
	}
	if !t.replace {
		return t.install()
	}
	old, err := osfile.Open(t.name, osfile.ReadWrite, 0)
	if errors.Is(err, fs.ErrNotExist) {
		t.replace = false
		return t.install()
	}
	if err != nil {
		return err
	}
	err = old.Lock(osfile.Exclusive, pendingByte, sharedByte+sharedSize-pendingByte)
	if errors.Is(err, osfile.ErrLocked) {
		err = ErrBusy
	}
	if runtime.GOOS == "windows" { // does not rename over an open file
		err = cmp.Or(err, old.Close())
	} else {
		defer func() { err = cmp.Or(err, old.Close()) }()
	}
	if err != nil {
		return err
	}
	return t.install()
}

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
