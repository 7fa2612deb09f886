package osfile

import "os"

// ReadOnly, Create and CreateNew are flags of Open, equal to package os's, for the packages that do
// without it. CreateNew refuses a file that exists.
const (
	ReadOnly  = os.O_RDONLY
	Create    = os.O_CREATE
	CreateNew = os.O_CREATE | os.O_EXCL
)

// NoFollow lets Open refuse a name whose last element is a symbolic link. It is a flag of this
// package only.
const NoFollow = 1 << 29
