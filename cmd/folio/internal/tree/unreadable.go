package tree

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"
)

// unreadableErrnos are those of a file that cannot be read, whatever the state of the system and of
// the other files.
var unreadableErrnos = []syscall.Errno{syscall.EIO, syscall.ENXIO, syscall.ENODEV, syscall.ESTALE, syscall.EBADMSG}

// isUnreadable reports whether an error is about one file, of which a walk can go on without.
func isUnreadable(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, ErrExcluded) ||
		slices.ContainsFunc(unreadableErrnos, func(e syscall.Errno) bool { return errors.Is(err, e) })
}

// PassOver tells about a file that cannot be read, and returns nil if the walk goes on without it.
func (o *Options) PassOver(name string, err error) error {
	if err == nil || o.Unreadable == nil || name == "." || !isUnreadable(err) {
		return err
	}
	if e, ok := errors.AsType[*EntryError](err); ok {
		err = e.Err
	}
	o.Unreadable(name, err)
	return nil
}
