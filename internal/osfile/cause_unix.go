//go:build unix

package osfile

import "syscall"

var fullErrors = []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}
