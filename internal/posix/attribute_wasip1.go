package posix

import "syscall"

// errnoAttribute stands for an errno that this system does not have.
const errnoAttribute = syscall.ENOENT
