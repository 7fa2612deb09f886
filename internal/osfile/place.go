package osfile

import "os"

// ReadWrite is the flag with which Open opens a file for writing: like ReadOnly, for packages
// without package os. An exclusive lock asks for it.
const ReadWrite = os.O_RDWR

// Replace is ReplaceDurably without waiting for the disk: after a power cut the name may lead to an
// incomplete file.
func Replace(tmp *File, name string) error { return replace(tmp, name, tmp.rename) }

// Place is PlaceDurably without waiting for the disk: after a power cut the name may lead to an
// incomplete file.
func Place(tmp *File, name string) error { return place(tmp, name, tmp.rename) }

// A placing renames a file by one of the system's ways to do that.
type placing func(resolved string, rename func(from, to string) error) error

func replace(tmp *File, name string, install placing) error {
	defer tmp.Discard()
	resolved, err := Resolve(name)
	if err != nil {
		return err
	}
	if err := adoptReplaced(tmp, resolved); err != nil {
		return pathError("rename", name, err)
	}
	return pathError("rename", name, install(resolved, renameOver))
}

func place(tmp *File, name string, install placing) error {
	defer tmp.Discard()
	resolved, err := resolve(name, os.O_CREATE|os.O_EXCL)
	if err != nil {
		return pathError("rename", name, err)
	}
	return pathError("rename", name, install(resolved, renameNoReplace))
}
