package osfile

import "os"

// ReadOnly and Create are flags of Open, as those of package os, for the packages that do without it.
const (
	ReadOnly = os.O_RDONLY
	Create   = os.O_CREATE
)
