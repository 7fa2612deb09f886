package posix

import "syscall"

// errNotDirectory is no errno here: the one that Windows has for it means that something is missing
// as well, so that it matches fs.ErrNotExist.
var errNotDirectory = &Error{text: "not a directory", errno: syscall.ENOTDIR, alone: true}
