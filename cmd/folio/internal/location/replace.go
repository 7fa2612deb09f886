package location

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/tree/archive"
	"github.com/foliofs/folio/pgstore"
	"github.com/foliofs/folio/sqlitefile"
)

// A Replacing says which file a new volume may take the place of.
type Replacing struct {
	Force    bool // a volume
	ForceAny bool // any regular file

	AnyEnding bool   // the name of the volume may end like an archive's
	Stream    string // the command that writes the volume's file to standard output, if there is one
}

// Replaces reports whether anything may be replaced.
func (r *Replacing) Replaces() bool { return r.Force || r.ForceAny }

// Sweep removes the temporary files that a killed process left next to file.
func Sweep(file string) {
	if OnServer(file) {
		return
	}
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	_ = sqlitefile.RemoveAbandoned(filepath.Dir(file)) // files that it cannot remove do no harm
}

// CheckNew returns early, before src is read, an error that making a volume would return. It also
// refuses to replace a file if the flags do not allow that.
func (r *Replacing) CheckNew(volume, src string) error {
	if OnServer(volume) {
		return r.checkServer(volume)
	}
	if !r.AnyEnding && !IsVolume(volume) {
		if err := mayEnd(volume, r.Stream); err != nil {
			return err
		}
	}
	info, err := os.Stat(volume)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return MayName(volume, "folio cp copies into a volume")
	case err != nil:
		return err
	case info.IsDir():
		return failure.At(volume, errors.New("is a directory"))
	case !r.Replaces():
		return failure.At(volume, failure.ErrVolumeExists)
	case SameFile(src, volume):
		return failure.At(volume, failure.ErrSameFile)
	case !r.ForceAny && info.Size() > 0 && !IsVolume(volume):
		return failure.At(volume, failure.ErrOtherFile)
	}
	return nil
}

var errReplaceServer = errors.New("is on a server, where no volume is replaced")

// checkServer refuses a volume on a server that is there.
func (r *Replacing) checkServer(volume string) error {
	loc, err := r.newOnServer(volume)
	if err != nil {
		return err
	}
	v, err := loc.OpenVolume(&folio.Options{ReadOnly: true})
	if err != nil { // making it returns the error
		return nil
	}
	_ = v.Close()
	return loc.isThere()
}

// CreateOnServer makes an empty volume on a server.
func (r *Replacing) CreateOnServer(volume string) error {
	loc, err := r.newOnServer(volume)
	if err != nil {
		return err
	}
	v, err := loc.openOnServer(&pgstore.Options{Create: true, Exclusive: true})
	if errors.Is(err, fs.ErrExist) {
		return loc.isThere()
	}
	if err == nil {
		err = v.Close()
	}
	return failure.At(loc.Volume, err)
}

// newOnServer returns the place of a new volume on a server.
func (r *Replacing) newOnServer(volume string) (Location, error) {
	loc, err := WholeTree(volume)
	if err == nil {
		err = loc.CheckWritable()
	}
	if err == nil && r.Replaces() {
		err = failure.Hint(failure.At(loc.Volume, errReplaceServer), "remove its schema first, or name another volume")
	}
	return loc, err
}

// isThere is the error for a volume on a server that should be a new one.
func (l Location) isThere() error {
	return failure.Rehint(failure.At(l.Volume, failure.ErrVolumeExists), "name another volume, by ?volume=NAME")
}

var errArchiveName = errors.New("is the name of an archive, and this would be a volume")

// mayEnd refuses a name for a new volume that ends as an archive or a compressed file does: the
// user wants one of these. stream is the command that writes a volume's file to standard output, or
// "" if there is none.
func mayEnd(volume, stream string) error {
	if _, ok := archive.FormatOf(volume); ok {
		return failure.Hint(failure.At(volume, errArchiveName), "folio convert makes archives")
	}
	if f, ok := archive.ForeignOf(volume); stream == "" || ok && f.Tar {
		stream = "folio convert SOURCE -"
	}
	return Written(volume, stream)
}

// Written refuses a name that ends as a kind of file does which folio does not write. stream is the
// command that writes the content of such a file to standard output.
func Written(name, stream string) error {
	f, ok := archive.ForeignOf(name)
	if !ok {
		return nil
	}
	way := "use .tar, .tar.gz, .tar.zst, .zip or .sqlar, or pack a directory that folio export makes"
	if f.Program != "" {
		way = fmt.Sprintf("use: %s | %s > FILE", stream, f.Program)
	}
	return failure.Hint(failure.At(name, fmt.Errorf("folio does not write %s", f.Ending)), way)
}
