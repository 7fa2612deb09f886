//go:build linux

package mount

import "golang.org/x/sys/unix"

// machinePathCalls are the system calls with a path that other machines lack.
var machinePathCalls = map[uint64]pathCall{
	unix.SYS_OPEN: {}, unix.SYS_STAT: {}, unix.SYS_LSTAT: {}, unix.SYS_ACCESS: {},
	unix.SYS_READLINK: {}, unix.SYS_CHMOD: {}, unix.SYS_CHOWN: {}, unix.SYS_LCHOWN: {},
	unix.SYS_RENAMEAT: {1, renames}, unix.SYS_RENAME: {0, renames}, unix.SYS_MKDIR: {0, makes}, unix.SYS_RMDIR: {0, removes},
	unix.SYS_UNLINK: {0, removes}, unix.SYS_LINK: {0, makes}, unix.SYS_SYMLINK: {1, makes}, unix.SYS_MKNOD: {0, makes},
	unix.SYS_CREAT: {0, opens},
}
