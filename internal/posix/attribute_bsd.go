//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package posix

import "syscall"

const errnoAttribute = syscall.ENOATTR
