package volume

import (
	"errors"
	"io/fs"
	"path"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// An Addition adds the files of an import to a directory of a volume that is there, within one
// transaction. Its errors about a header are like the errors of a folio.Builder. If an error is
// about a file in the volume, it names that file.
//
// It never follows a symbolic link below the directory, and gives no further name to a file that
// was there before.
type Addition struct {
	tx       *folio.Tx
	loc      location.Location    // the directory
	force    bool                 // replaces files that are there
	NewDirs  int64                // that were made
	Replaced int64                // files that were there
	first    uint64               // the lowest inode that was made; 0 before. All others have higher numbers
	dirs     map[string]*addedDir // directories that were met, by their paths in the volume
	headers  []*folio.Header      // of directories, each after its parent; set at the end
}

// An addedDir is a directory that files are added to.
type addedDir struct {
	named bool // a header was seen
	made  bool // it was not there before
}

const forceReplaces = "-f replaces files"

// NewAddition begins to add to the directory loc, which it makes if there is none.
func NewAddition(tx *folio.Tx, loc location.Location, force bool) (*Addition, error) {
	a := &Addition{tx: tx, loc: loc, force: force, dirs: make(map[string]*addedDir)}
	info, err := tx.Stat(loc.Path)
	made := errors.Is(err, fs.ErrNotExist)
	switch {
	case made:
		err = a.makeDir(&folio.Header{Name: loc.Path, Mode: fs.ModeDir | 0o755})
	case err == nil && !info.IsDir():
		err = folio.ErrNotDirectory
	}
	a.dirs[loc.Path] = &addedDir{made: made}
	return a, loc.Failure(loc.Path, err)
}

// Add implements tree.Sink.
func (a *Addition) Add(e *tree.Entry) error {
	h := e.Header
	h.Name = path.Join(a.loc.Path, e.Name)
	var err error
	switch {
	case e.Link != "":
		err = a.link(path.Join(a.loc.Path, e.Link), h.Name)
	case e.Mode.IsDir():
		err = a.directory(&h)
	default:
		if err = a.makeRoom(h.Name); err == nil {
			err = a.made(h.Name, e.AddTo(a.tx, &h))
		}
	}
	return a.failure(e.Name, h.Name, err)
}

// made notes the first inode of all that are made.
func (a *Addition) made(name string, err error) error {
	if err != nil || a.first != 0 {
		return err
	}
	info, err := a.tx.Lstat(name)
	if err == nil {
		a.first = location.Inode(info)
	}
	return err
}

// isNew reports whether a file was made by this Addition.
func (a *Addition) isNew(info fs.FileInfo) bool {
	return a.first != 0 && location.Inode(info) >= a.first
}

// lstat returns nil for a file that is not there.
func (a *Addition) lstat(name string) (fs.FileInfo, error) {
	info, err := a.tx.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return info, err
}

// makeRoom prepares a name for something that is no directory.
func (a *Addition) makeRoom(name string) error {
	if err := a.parent(name); err != nil {
		return err
	}
	there, err := a.lstat(name)
	switch {
	case err != nil || there == nil:
		return err
	case a.isNew(there):
		return fs.ErrExist
	case there.IsDir():
		return a.inTheWay(name, folio.ErrIsDirectory, failure.NothingChanged)
	case !a.force:
		return a.inTheWay(name, fs.ErrExist, forceReplaces)
	}
	a.Replaced++
	return a.tx.Remove(name)
}

// inTheWay returns the error for a file that was in the volume before.
func (a *Addition) inTheWay(name string, err error, way string) error {
	return failure.Rehint(a.loc.Failure(name, err), way)
}

// parent makes sure that a name is in a directory, and makes it if there is none.
func (a *Addition) parent(name string) error {
	dir := path.Dir(name)
	if a.dirs[dir] != nil {
		return nil
	}
	if err := a.parent(dir); err != nil {
		return err
	}
	there, err := a.lstat(dir)
	switch {
	case err != nil:
		return err
	case there == nil:
		a.dirs[dir] = &addedDir{made: true}
		return a.makeDir(&folio.Header{Name: dir, Mode: fs.ModeDir | 0o755})
	case there.IsDir():
		a.dirs[dir] = new(addedDir)
		return nil
	case a.isNew(there):
		return folio.ErrNotDirectory
	}
	return a.inTheWay(dir, folio.ErrNotDirectory, failure.NothingChanged)
}

func (a *Addition) makeDir(h *folio.Header) error {
	err := a.made(h.Name, a.tx.Add(h, nil))
	if err == nil {
		a.NewDirs++
	}
	return err
}

// directory adds a directory, or merges it with an existing one.
func (a *Addition) directory(h *folio.Header) error {
	d := a.dirs[h.Name]
	if d == nil {
		if err := a.parent(h.Name); err != nil {
			return err
		}
		there, err := a.lstat(h.Name)
		switch {
		case err != nil:
			return err
		case there == nil:
			err = a.makeDir(h)
		case a.isNew(there):
			err = fs.ErrExist
		case !there.IsDir():
			err = a.inTheWay(h.Name, folio.ErrNotDirectory, failure.NothingChanged)
		}
		if err != nil {
			return err
		}
		d = &addedDir{made: there == nil}
		a.dirs[h.Name] = d
	}
	if d.named {
		return fs.ErrExist
	}
	d.named = true
	if d.made || a.force && h.Name != a.loc.Path {
		a.headers = append(a.headers, h)
	}
	return nil
}

// link gives a file that was added a further name.
func (a *Addition) link(from, to string) error {
	if err := a.makeRoom(to); err != nil {
		return err
	}
	if a.dirs[path.Dir(from)] == nil {
		return fs.ErrNotExist
	}
	info, err := a.tx.Lstat(from)
	switch {
	case err != nil:
		return err
	case !a.isNew(info):
		return fs.ErrNotExist
	}
	return a.tx.Link(from, to)
}

// Finish implements tree.Sink. It sets the headers of directories. Adding files has changed their
// times.
func (a *Addition) Finish() error {
	for i := len(a.headers) - 1; i >= 0; i-- {
		if err := a.tx.SetHeader(a.headers[i]); err != nil {
			return a.loc.Failure(a.headers[i].Name, err)
		}
	}
	return nil
}

// failure returns an error of a header as an *fs.PathError with its name. An error of the volume
// names the file there.
func (a *Addition) failure(name, inVolume string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := err.(*failure.HintError); ok { // of inTheWay
		return err
	}
	for _, own := range []error{folio.ErrFull, folio.ErrReadOnly, folio.ErrDamaged} {
		if errors.Is(err, own) {
			return a.loc.Failure(inVolume, err)
		}
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return &fs.PathError{Op: "add", Path: name, Err: err}
}
