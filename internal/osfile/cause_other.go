//go:build !unix

package osfile

import "syscall"

// ERROR_HANDLE_DISK_FULL and ERROR_DISK_FULL of Windows, and the names that package syscall makes
// up for other systems.
var fullErrors = []syscall.Errno{39, 112, syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}
