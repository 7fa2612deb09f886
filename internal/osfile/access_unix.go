//go:build unix

package osfile

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

func (d *description) access() (Access, error) {
	st, err := d.status()
	return st.access(), err
}

// accessOf returns the owner and the permissions of the file of this name, links not followed.
func accessOf(name string) (Access, error) {
	st, err := statusOf(name)
	return st.access(), err
}

// first returns the permissions to make a file with that will get this access: no more than that
// for whatever owner and group the file has until then.
func (a Access) first() fs.FileMode {
	if os.Geteuid() == 0 {
		return a.Perm & 0o700
	}
	return a.Perm
}

// sideLooks is how often a side file is looked at. Another process that links a file to this name
// and removes the link again, on and on, would have to hit the time between two looks in each of
// them.
const sideLooks = 4

// checkSide reports whether d is still the file of this name, and holds it to D1 and D2.
func (d *description) checkSide(name string, like Access) (here bool, err error) {
	for range sideLooks {
		st, err := d.status()
		if err == nil && st.links <= 1 {
			st, err = statusOf(name)
		}
		switch {
		case err == unix.ENOENT:
			return false, nil
		case err != nil:
			return false, err
		case st.id != d.id:
			return false, nil
		case st.links > 1:
			return true, &sideError{fmt.Errorf("is one file under %d names", st.links), "remove the other names, or put a copy in its place"}
		}
	}
	return true, d.checkSideOwner(name, like)
}

// checkSideOwner holds a side file to D2.
func (d *description) checkSideOwner(name string, like Access) error {
	st, err := d.status()
	if err != nil || st.uid == like.UID || st.uid == 0 || int(st.uid) == os.Geteuid() || like.Perm&0o006 == 0o006 {
		return err
	}
	dir, err := statusOf(filepath.Dir(name))
	if err != nil || dir.mode&0o002 == 0 {
		return err
	}
	return &sideError{
		fmt.Errorf("is a file of user %d in a directory that every user can write to", st.uid),
		"remove it, or move the database to a directory of its own",
	}
}

// becomeSide gives a side file the access of its database (D3, D4). Permissions and owners that the
// system refuses to set stay as they are, as with SQLite; for example, some file systems have no
// owners.
func (d *description) becomeSide(like Access) {
	st, err := d.status()
	if err != nil {
		return
	}
	if os.Geteuid() == 0 && (st.uid != like.UID || st.gid != like.GID) {
		_ = unix.Fchown(d.fd, int(like.UID), int(like.GID))
	}
	if st.size == 0 && st.access().Perm != like.Perm {
		_ = unix.Fchmod(d.fd, uint32(like.Perm))
	}
}

// adopt is File.Adopt. The group comes before the permissions that it is given.
func (d *description) adopt(a Access) error {
	st, err := d.status()
	if err != nil {
		return err
	}
	if st.uid != a.UID || st.gid != a.GID {
		err = unix.Fchown(d.fd, int(a.UID), int(a.GID))
	}
	if err != nil && st.gid != a.GID && unix.Fchown(d.fd, -1, int(a.GID)) != nil {
		a.Perm &= 0o707 | a.Perm&0o007<<3
	}
	return unix.Fchmod(d.fd, uint32(a.Perm))
}

// adoptWhole is adopt that fails if the file does not get all of it.
func (d *description) adoptWhole(a Access) error {
	st, err := d.status()
	if err == nil && (st.uid != a.UID || st.gid != a.GID) {
		err = unix.Fchown(d.fd, int(a.UID), int(a.GID))
	}
	return cmp.Or(err, unix.Fchmod(d.fd, uint32(a.Perm)))
}
