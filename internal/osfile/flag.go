package osfile

import "os"

// ReadOnly is the flag with which Open opens a file for reading, so that the packages above do without package os.
const ReadOnly = os.O_RDONLY
