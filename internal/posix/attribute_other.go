//go:build !(darwin || dragonfly || freebsd || netbsd || openbsd || wasip1)

package posix

import "syscall"

const errnoAttribute = syscall.ENODATA
