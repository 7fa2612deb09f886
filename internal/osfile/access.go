package osfile

import "io/fs"

// An Access holds the owner and the permissions of a file. Systems without owners leave UID and GID
// zero.
type Access struct {
	Perm     fs.FileMode // permission bits only
	UID, GID uint32
}

// Access returns the owner and the permissions that the file has now.
func (f *File) Access() (Access, error) {
	if f.closed.Load() {
		return Access{}, f.fail("stat", fs.ErrClosed)
	}
	a, err := f.d.access()
	return a, f.fail("stat", err)
}

// Adopt gives the file the permissions, the owner and the group that a says, as far as the system
// allows it. If the group cannot be changed, the group of the file gets no more rights than all
// users have: the file is never open to more users than a says. ReplaceDurably then leaves the
// access to the file as it is.
func (f *File) Adopt(a Access) error {
	if f.closed.Load() {
		return f.fail("chmod", fs.ErrClosed)
	}
	f.adopted = true
	return f.fail("chmod", f.d.adopt(a))
}
