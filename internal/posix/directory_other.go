//go:build !windows

package posix

import "syscall"

const errNotDirectory = syscall.ENOTDIR
