package roottest

import "syscall"

// furtherFlags are flags of open that not all systems have, or not to the same effect. The two ways
// to open a file for writing are among them, as both together are a third one.
var furtherFlags = []int{
	syscall.O_DIRECTORY, syscall.O_DIRECTORY, syscall.O_DIRECTORY, syscall.O_WRONLY | syscall.O_RDWR, syscall.O_WRONLY | syscall.O_RDWR,
	syscall.O_NOFOLLOW, syscall.O_NONBLOCK, syscall.O_CLOEXEC, syscall.O_NOCTTY, syscall.O_NOATIME, syscall.O_ASYNC, syscall.O_LARGEFILE, 1 << 29,
}
