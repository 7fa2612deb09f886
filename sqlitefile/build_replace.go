package sqlitefile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// The files that a database may have next to it, by their endings. The first two are played back by
// the next process that opens a database of that name, whichever it is.
const (
	journalSuffix = "-journal"
	walSuffix     = "-wal"
	shmSuffix     = "-shm"
)

// maxRecoveries is how often place tries to find the old database at rest.
const maxRecoveries = 3

// place gives the finished file its name. A database that it replaces must not be in use.
//
// The old database may have a log or a hot journal, because the process that wrote it was killed.
// These must not outlive it: SQLite would play them back into the new one. They must not go before
// it either: the old database is not whole without them. So the old database is recovered first,
// which empties and removes them, and then replaced, in one step. A crash leaves the old database,
// with or without its log but with all that was in it, or the new one.
//
//	locked --[log or hot journal: unlock]--> recovering --[lock]--> locked --[neither]--> replaced
func (t *buildTarget) place() error {
	for range maxRecoveries {
		if !t.replace {
			return cmp.Or(t.checkStray(), t.install())
		}
		placed, err := t.replaceOld()
		if placed || err != nil {
			return err
		}
		if err := t.recoverOld(); err != nil {
			return err
		}
	}
	return ErrBusy // other programs write to it, time and again
}

// checkStray refuses a log or a journal next to a name that no database has: the next process would
// play it back into the new one.
func (t *buildTarget) checkStray() error {
	suffix, err := t.logSuffix()
	if err == nil && suffix != "" {
		err = fmt.Errorf("%w: a %s of a database that is gone lies next to it: remove that first", fs.ErrExist, suffix)
	}
	return err
}

// logSuffix returns the ending of a journal or log that may be played back, or "".
func (t *buildTarget) logSuffix() (string, error) {
	for _, suffix := range []string{journalSuffix, walSuffix} {
		size, exists, err := osfile.SideExists(t.name + suffix)
		if err != nil {
			return "", err
		}
		if !exists || size == 0 {
			continue
		}
		hot, err := t.isHot(suffix)
		if hot || err != nil {
			return suffix, err
		}
	}
	return "", nil
}

// isHot reports whether SQLite would play a file back. A journal that begins with a zero is
// finished.
func (t *buildTarget) isHot(suffix string) (bool, error) {
	if suffix != journalSuffix {
		return true, nil
	}
	var first [1]byte
	n, err := osfile.ReadFirst(t.name+suffix, first[:])
	return n > 0 && first[0] != 0, err
}

// replaceOld replaces the old database, unless that has something to recover.
func (t *buildTarget) replaceOld() (placed bool, err error) {
	old, err := t.lockOld()
	if errors.Is(err, fs.ErrNotExist) {
		t.replace = false
		return true, cmp.Or(t.checkStray(), t.install())
	}
	if err != nil {
		return false, err
	}
	suffix, err := t.logSuffix()
	if runtime.GOOS == "windows" || suffix != "" || err != nil { // Windows does not rename over an open file
		err = cmp.Or(err, old.Close())
	} else {
		defer func() { err = cmp.Or(err, old.Close()) }()
	}
	if suffix != "" || err != nil {
		return false, err
	}
	return true, cmp.Or(t.removeCompanions(), t.install())
}

// lockOld opens the old database and locks it, so that no other process reads or writes it.
func (t *buildTarget) lockOld() (*osfile.File, error) {
	old, err := osfile.Open(t.name, osfile.ReadWrite, 0)
	if err != nil {
		return nil, err
	}
	err = old.Lock(osfile.Exclusive, format.PendingByte, format.SharedByte+format.SharedSize-format.PendingByte)
	if errors.Is(err, osfile.ErrLocked) {
		err = ErrBusy
	}
	if err != nil {
		return nil, cmp.Or(err, old.Close())
	}
	return old, nil
}

// recoverOld plays the journal or log of the old database back and removes it. If the old database
// is damaged there is nothing to save, and its log goes.
func (t *buildTarget) recoverOld() error {
	db, err := Open(t.name, nil)
	if err == nil {
		err = dberr.Join(db.SetJournalMode(context.Background(), JournalDelete), db.Close())
	}
	switch {
	case errors.Is(err, ErrCorrupt):
		return t.dropLog()
	case errors.Is(err, ErrNotDatabase):
		return t.checkStray()
	case err != nil:
		return fmt.Errorf("the database that is there, which has a log to be played back: %w", unwrapPath(err))
	}
	return nil
}

// dropLog removes the log of a damaged database that is not in use.
func (t *buildTarget) dropLog() error {
	old, err := t.lockOld()
	if err != nil {
		return err
	}
	return cmp.Or(t.removeCompanions(), old.Close())
}

// removeCompanions removes the files next to the old database, for good. The caller has locked
// it.
func (t *buildTarget) removeCompanions() error {
	removed := false
	for _, suffix := range []string{journalSuffix, walSuffix, shmSuffix} {
		_, exists, err := osfile.SideExists(t.name + suffix)
		if exists {
			err = dberr.IgnoreMissing(osfile.OS.Remove(t.name + suffix))
		}
		if err != nil {
			return err
		}
		removed = removed || exists
	}
	if !removed || t.lazy {
		return nil
	}
	return osfile.OS.SyncDir(t.name)
}

// unwrapPath leaves out the operation and the path of an error, which its reader knows.
func unwrapPath(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// A buildTarget is where a new database will be, and the temporary file next to it that will become
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
// their process was killed. It does not touch files of running processes, nor any where the system
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
