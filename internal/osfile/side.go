package osfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// A side file is next to a database and is named after it: -wal, -shm, -journal. Its name is
// known in advance, so that another user of the directory, or the archive that the database came
// in, can put anything there. And it holds parts of the database, so that it must be readable to
// the same users. This file is the one place where side files are opened and made.
//
// Invariants:
//
//	D1  A side file is a regular file with one name. Links are not followed, and anything but a
//	    regular file is never opened.
//	D2  If every user can write to the directory, it belongs to the owner of the database, to
//	    this user or to root, unless every user can read and write the database itself.
//	D3  A side file that is made gets the permissions of the database, whatever the umask, and if
//	    this process is root, its owner and its group. It is never open to more users than that, not
//	    even for a moment.
//	D4  A side file that exists gets the owner of the database too, if this process is root; and its
//	    permissions if it is empty, as SQLite does it (robustFchown and robust_open).

// ErrSideFile says that a file next to a database is not a side file that the database can use; the
// message says why, and how to correct it.
var ErrSideFile = errors.New("not a usable side file of the database")

// A sideError refuses a side file. It matches ErrSideFile, and its cause.
type sideError struct {
	cause error
	cure  string
}

func (e *sideError) Error() string {
	return fmt.Sprintf("%v, which a file next to a database must not be: %s", e.cause, e.cure)
}

func (e *sideError) Is(target error) bool { return target == ErrSideFile }

func (e *sideError) Unwrap() error { return e.cause }

// refuseSide explains the error of opening a side file if it says that the name leads to no regular
// file.
func refuseSide(err error) error {
	kind, ok := errors.AsType[kindError](err)
	switch {
	case errors.Is(err, syscall.ELOOP): // a link that was put there a moment ago
		kind = kindError(fs.ModeSymlink)
	case !ok:
		return err
	}
	if fs.FileMode(kind)&fs.ModeSymlink != 0 {
		return &sideError{kind, "remove the link"}
	}
	return &sideError{kind, "move it away"}
}

// OpenSide opens the side file of f that has this suffix, for example "-wal". The flags are those
// of Open; with CreateNew the file is to replace f, and it is an error if it cannot get the owner
// and the group of f. It returns an error that matches ErrSideFile if the name leads to a file that
// D1 or D2 forbids.
func (f *File) OpenSide(suffix string, flag int) (*File, error) {
	like, err := f.Access()
	if err != nil {
		return nil, err
	}
	return openSide(f.name+suffix, flag, like)
}

func (system) OpenSide(db Handle, suffix string, flag int) (Handle, error) {
	like, err := db.Access()
	if err != nil {
		return nil, err
	}
	f, err := openSide(db.Name()+suffix, flag, like)
	if err != nil {
		return nil, err // not a Handle that holds a nil *File
	}
	return f, nil
}

func (system) SideExists(db Handle, suffix string) (int64, bool, error) {
	return SideExists(db.Name() + suffix)
}

// PrepareSide makes the side file of the database called name, or makes sure that an existing side
// file can be used, for a program that then opens it by its name. It does nothing if there is no
// database.
func PrepareSide(name, suffix string) error {
	resolved, err := resolve(name, os.O_RDONLY)
	if err != nil {
		return pathError("open", name, err)
	}
	like, err := accessOf(resolved)
	if err != nil {
		return pathError("open", name, err)
	}
	f, err := openSide(resolved+suffix, os.O_RDWR|os.O_CREATE, like)
	if err != nil {
		return err
	}
	return f.Close()
}

// openSide opens a side file of a database with this access.
func openSide(name string, flag int, like Access) (*File, error) {
	d, err := acquireSide(name, flag, like)
	if err != nil {
		return nil, pathError("open", name, refuseSide(err))
	}
	return &File{name: name, d: d}, nil
}

// sideTries is how often a side file may be replaced while it is opened.
const sideTries = 100

func acquireSide(name string, flag int, like Access) (*description, error) {
	for range sideTries {
		d, err := findSide(name, flag, like)
		if errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0 {
			d, err = acquire(name, flag|os.O_EXCL, like.first())
			if errors.Is(err, fs.ErrExist) && flag&os.O_EXCL == 0 {
				continue // made by another process a moment ago
			}
		}
		switch {
		case err != nil:
			return nil, err
		case flag&os.O_EXCL != 0:
			return d.becomeHeir(name, like)
		case flag&os.O_RDWR != 0:
			d.becomeSide(like)
		}
		return d, nil
	}
	return nil, &sideError{errors.New("is replaced again and again"), "find out by which program"}
}

// becomeHeir gives a new file, which is to replace the database, all of its access, or removes it.
func (d *description) becomeHeir(name string, like Access) (*description, error) {
	err := d.adoptWhole(like)
	if err == nil {
		return d, nil
	}
	return nil, cmp.Or(explainOwner(err, like), release(d), unlink(name))
}

// explainOwner says which owner a file could not get.
func explainOwner(err error, like Access) error {
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return fmt.Errorf("cannot belong to user %d and group %d, as the file that it is to replace does: let that user do this (%w)", like.UID, like.GID, err)
}

// findSide opens the side file that exists. It does so without O_CREATE: Linux refuses that flag
// for the file of another user in a directory that all can write to, to root as well
// (fs.protected_regular).
func findSide(name string, flag int, like Access) (*description, error) {
	if flag&os.O_EXCL != 0 {
		return nil, fs.ErrNotExist
	}
	d, err := acquire(name, flag&^os.O_CREATE, 0)
	if err != nil {
		return nil, err
	}
	here, err := d.checkSide(name, like)
	if err == nil && !here {
		err = fs.ErrNotExist // removed or replaced a moment ago
	}
	if err != nil {
		return nil, cmp.Or(err, release(d))
	}
	return d, nil
}

// SideExists reports whether a side file has this name, and its size. It opens nothing. It returns
// an error that matches ErrSideFile if the name leads to a file that is not regular.
func SideExists(name string) (size int64, ok bool, err error) {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return 0, false, nil
	case err != nil:
		return 0, false, err
	case !info.Mode().IsRegular():
		return 0, false, pathError("open", name, refuseSide(kindError(info.Mode())))
	}
	return info.Size(), true, nil
}
