package osfile

import "os"

// ReadOnly and Create are flags of Open, as those of package os, for the packages that do without it.
const (
	ReadOnly = os.O_RDONLY
	Create   = os.O_CREATE
)

// NoFollow lets Open refuse a name whose last element is a symbolic link. It is a flag of this package only.
const NoFollow = 1 << 29
