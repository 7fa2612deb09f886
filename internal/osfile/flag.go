package osfile

import "os"

// Flags of Open, as those of package os, for the packages that do without it.
const (
	ReadOnly  = os.O_RDONLY
	ReadWrite = os.O_RDWR
	Create    = os.O_CREATE
)
