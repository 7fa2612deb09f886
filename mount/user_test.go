//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/foliofs/folio/internal/must"
	"golang.org/x/sys/unix"
)

// A user is who makes the system calls of a part of a test.
type user struct {
	uid, gid int
	groups   []int
}

var (
	superuser = user{}
	stranger  = user{uid: 1234, gid: 1234}
)

// do calls fn with the rights of a user. The thread that has called it ends: it has no other rights
// any more.
func (u user) do(t testing.TB, fn func()) {
	t.Helper()
	if u.uid == 0 {
		fn()
		return
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := u.become()
		if err == nil {
			fn()
		}
		done <- err
	}()
	must.Do(t, <-done)
}

// become gives this thread the rights of a user. The functions of package syscall would give them
// to all threads.
func (u user) become() error {
	groups := make([]uint32, len(u.groups)+1) // at least one, so that there is an address
	for i, g := range u.groups {
		groups[i] = uint32(g)
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(u.groups)), uintptr(unsafe.Pointer(&groups[0])), 0); errno != 0 {
		return errno
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESGID, uintptr(u.gid), uintptr(u.gid), uintptr(u.gid)); errno != 0 {
		return errno
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(u.uid), uintptr(u.uid), uintptr(u.uid)); errno != 0 {
		return errno
	}
	return nil
}
