package main

import (
	"errors"
	"io"
	"io/fs"
	"path"

	"github.com/foliofs/folio"
)

// An addition adds the files of an import to a directory of a volume that is there, within one
// transaction. Its methods Add, AddBytes, Link and Stats are those of a folio.Builder, and so are
// their errors about a header. An error about what is in the volume is a *volumeError.
//
// It never follows a symbolic link below the directory, and gives no name to a file that was there
// before.
type addition struct {
	tx       *folio.Tx
	loc      location // the directory
	force    bool     // replaces files that are there
	stats    folio.BuildStats
	replaced int64
	first    uint64               // the lowest inode that was made; 0 before. All others have higher numbers
	dirs     map[string]*addedDir // directories that were met, by their paths in the volume
	headers  []*folio.Header      // of directories that get them in the end, each after the one that it lies in
}

// An addedDir is a directory that files are added to.
type addedDir struct {
	named bool // a header was seen
	made  bool // it was not there before
}

const forceReplaces = "-f replaces files"

// newAddition begins an addition to the directory loc, which it makes if there is none.
func newAddition(tx *folio.Tx, loc location, force bool) (*addition, error) {
	a := &addition{tx: tx, loc: loc, force: force, dirs: make(map[string]*addedDir)}
	info, err := tx.Stat(loc.path)
	made := errors.Is(err, fs.ErrNotExist)
	switch {
	case made:
		err = a.makeDir(&folio.Header{Name: loc.path, Mode: fs.ModeDir | 0o755})
	case err == nil && !info.IsDir():
		err = folio.ErrNotDirectory
	}
	a.dirs[loc.path] = &addedDir{made: made}
	return a, loc.failure(loc.path, err)
}

// Stats returns what was added so far.
func (a *addition) Stats() folio.BuildStats { return a.stats }

// Add adds a file whose content is read from content.
func (a *addition) Add(h *folio.Header, content io.Reader) error {
	return a.add(h, func(h *folio.Header) error {
		if err := a.tx.Add(h, content); err != nil {
			return err
		}
		info, err := a.tx.Lstat(h.Name)
		if err == nil && info.Mode().IsRegular() {
			a.stats.Bytes += info.Size()
		}
		return err
	})
}

// AddBytes adds a file whose content is in memory.
func (a *addition) AddBytes(h *folio.Header, content []byte) error {
	a.stats.Bytes += int64(len(content))
	return a.add(h, func(h *folio.Header) error { return a.tx.AddBytes(h, content) })
}

func (a *addition) add(h *folio.Header, add func(h *folio.Header) error) error {
	in := *h
	in.Name = path.Join(a.loc.path, h.Name)
	if h.Mode.IsDir() {
		return a.failure(h.Name, in.Name, a.directory(&in))
	}
	err := a.makeRoom(in.Name)
	if err == nil {
		err = a.made(in.Name, add(&in))
	}
	if err == nil {
		a.count(h.Mode.Type())
	}
	return a.failure(h.Name, in.Name, err)
}

func (a *addition) count(typ fs.FileMode) {
	switch typ {
	case 0:
		a.stats.Files++
	case fs.ModeSymlink:
		a.stats.Symlinks++
	default:
		a.stats.Others++
	}
}

// made notes the first inode of all that are made.
func (a *addition) made(name string, err error) error {
	if err != nil || a.first != 0 {
		return err
	}
	info, err := a.tx.Lstat(name)
	if err == nil {
		a.first = inodeOf(info)
	}
	return err
}

// isNew reports whether a file was made by this addition.
func (a *addition) isNew(info fs.FileInfo) bool { return a.first != 0 && inodeOf(info) >= a.first }

// lstat returns nil for a file that is not there.
func (a *addition) lstat(name string) (fs.FileInfo, error) {
	info, err := a.tx.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return info, err
}

// makeRoom prepares a name for something that is no directory.
func (a *addition) makeRoom(name string) error {
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
		return a.inTheWay(name, folio.ErrIsDirectory, nothingChanged)
	case !a.force:
		return a.inTheWay(name, fs.ErrExist, forceReplaces)
	}
	a.replaced++
	return a.tx.Remove(name)
}

// inTheWay is the error for what was in the volume before.
func (a *addition) inTheWay(name string, err error, way string) error {
	return &volumeError{hint(a.loc.failure(name, err), way)}
}

// parent makes sure that a name lies in a directory, and makes it if there is none.
func (a *addition) parent(name string) error {
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
	return a.inTheWay(dir, folio.ErrNotDirectory, nothingChanged)
}

func (a *addition) makeDir(h *folio.Header) error {
	err := a.made(h.Name, a.tx.Add(h, nil))
	if err == nil {
		a.stats.Dirs++
	}
	return err
}

// directory adds a directory, or merges it with one that is there.
func (a *addition) directory(h *folio.Header) error {
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
			err = a.inTheWay(h.Name, folio.ErrNotDirectory, nothingChanged)
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
	if d.made || a.force && h.Name != a.loc.path {
		a.headers = append(a.headers, h)
	}
	return nil
}

// Link gives a file that was added a further name.
func (a *addition) Link(oldname, newname string) error {
	from, to := path.Join(a.loc.path, oldname), path.Join(a.loc.path, newname)
	err := a.makeRoom(to)
	if err == nil && a.dirs[path.Dir(from)] == nil {
		err = fs.ErrNotExist
	}
	if err == nil {
		var info fs.FileInfo
		if info, err = a.tx.Lstat(from); err == nil && !a.isNew(info) {
			err = fs.ErrNotExist
		}
	}
	if err == nil {
		err = a.tx.Link(from, to)
	}
	if err == nil {
		a.stats.Links++
	}
	return a.failure(newname, to, err)
}

// finish gives directories what their headers say: adding files has changed their times.
func (a *addition) finish() error {
	for i := len(a.headers) - 1; i >= 0; i-- {
		if err := a.tx.SetHeader(a.headers[i]); err != nil {
			return a.loc.failure(a.headers[i].Name, err)
		}
	}
	return nil
}

// failure tells what is wrong with a header, which is an *fs.PathError with its name, from what is
// wrong with the volume.
func (a *addition) failure(name, inVolume string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := err.(*volumeError); ok {
		return err
	}
	for _, own := range []error{folio.ErrFull, folio.ErrReadOnly, folio.ErrDamaged} {
		if errors.Is(err, own) {
			return &volumeError{a.loc.failure(inVolume, err)}
		}
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return &fs.PathError{Op: "add", Path: name, Err: err}
}
