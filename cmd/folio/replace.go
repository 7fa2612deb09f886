package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/sqlitefile"
)

// A replacing says which file a new volume may take the place of.
type replacing struct {
	force    bool // a volume
	forceAny bool // any regular file
}

// replaces reports whether anything may be replaced.
func (r *replacing) replaces() bool { return r.force || r.forceAny }

// sweep removes the temporary files that a killed process left next to file.
func sweep(file string) {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	_ = sqlitefile.RemoveAbandoned(filepath.Dir(file)) // files that it cannot remove do no harm
}

// checkNew returns early, before src is read, an error that making a volume would return. It also
// refuses to replace a file if the flags do not allow that.
func (r *replacing) checkNew(volume, src string) error {
	info, err := os.Stat(volume)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return location.MayName(volume, "folio cp copies into a volume")
	case err != nil:
		return err
	case info.IsDir():
		return failure.At(volume, errors.New("is a directory"))
	case !r.replaces():
		return failure.At(volume, failure.ErrVolumeExists)
	case location.SameFile(src, volume):
		return failure.At(volume, failure.ErrSameFile)
	case !r.forceAny && info.Size() > 0 && !location.IsVolume(volume):
		return failure.At(volume, failure.ErrOtherFile)
	}
	return nil
}
