package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/foliofs/folio/sqlitefile"
)

// A replacing says which file a new volume may take the place of.
type replacing struct {
	force    bool // a volume
	forceAny bool // any regular file
}

func (r *replacing) flags(flags *pflag.FlagSet, name string) {
	flags.BoolVarP(&r.force, "force", "f", false, "replace "+name+" if it is a volume, or empty")
	flags.BoolVar(&r.forceAny, "force-any", false, "replace "+name+" whatever file it is, such as the database of another program")
}

func (r *replacing) replaces() bool { return r.force || r.forceAny }

var (
	errVolumeExists = errors.New("exists already")
	errSameFile     = errors.New("is source and volume at once")
	errOtherFile    = errors.New("is no volume")
)

// sweep removes what a run left next to a file that it was to make, if it was killed.
func sweep(file string) {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	_ = sqlitefile.RemoveAbandoned(filepath.Dir(file)) // what it cannot remove does no harm
}

// checkNew refuses early, before anything is read from src, what making a volume would refuse too,
// and a file that is not to be replaced.
func (r *replacing) checkNew(volume, src string) error {
	info, err := os.Stat(volume)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return mayName(volume, "folio cp copies into a volume")
	case err != nil:
		return err
	case info.IsDir():
		return failure(volume, errors.New("is a directory"))
	case !r.replaces():
		return failure(volume, errVolumeExists)
	case sameFile(src, volume):
		return failure(volume, errSameFile)
	case !r.forceAny && info.Size() > 0 && !isVolume(volume):
		return failure(volume, errOtherFile)
	}
	return nil
}
