//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"bytes"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/internal/store"
)

// A systemCall is a system call whose thread waits for the answer to a request.
type systemCall struct {
	thread uint32
	text   string // its number, arguments, stack and place, by which it differs from other calls
	number uint64
	args   [6]uint64
}

// systemCallOf returns the system call of a thread. It returns false if the daemon may not look at
// that thread, as ptrace(2) says: a daemon of root may.
func systemCallOf(thread uint32) (c systemCall, ok bool) {
	if thread == 0 { // of another namespace of processes
		return c, false
	}
	fd, err := unix.Open(fmt.Sprintf("/proc/%d/syscall", thread), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return c, false
	}
	defer unix.Close(fd)
	var line [256]byte
	n, err := unix.Read(fd, line[:])
	if err != nil {
		return c, false
	}
	c = systemCall{thread: thread, text: string(line[:n])}
	fields := strings.Fields(c.text)
	if len(fields) != 9 { // the thread runs
		return c, false
	}
	if c.number, err = strconv.ParseUint(fields[0], 10, 64); err != nil {
		return c, false
	}
	for i := range c.args {
		if c.args[i], err = strconv.ParseUint(fields[1+i], 0, 64); err != nil {
			return c, false
		}
	}
	return c, true
}

// A pathCall is a system call that takes a path.
type pathCall struct {
	path int // which argument the path is
	kind callKind
}

// A callKind says which names a system call changes. Those that change one tell the program no
// attributes.
type callKind uint8

const (
	looks callKind = iota // it changes no name
	opens                 // it makes a file if there is none
	makes
	removes
	renames
)

var pathCalls = func() map[uint64]pathCall {
	calls := map[uint64]pathCall{
		unix.SYS_OPENAT: {path: 1}, unix.SYS_NEWFSTATAT: {path: 1}, unix.SYS_STATX: {path: 1}, unix.SYS_READLINKAT: {path: 1}, unix.SYS_FACCESSAT: {path: 1},
		unix.SYS_FACCESSAT2: {path: 1}, unix.SYS_FCHMODAT: {path: 1}, unix.SYS_FCHMODAT2: {path: 1}, unix.SYS_FCHOWNAT: {path: 1},
		unix.SYS_UTIMENSAT: {path: 1}, unix.SYS_CHDIR: {}, unix.SYS_TRUNCATE: {}, unix.SYS_EXECVE: {},
		unix.SYS_GETXATTR: {}, unix.SYS_LGETXATTR: {}, unix.SYS_LISTXATTR: {}, unix.SYS_LLISTXATTR: {},
		unix.SYS_MKDIRAT: {1, makes}, unix.SYS_MKNODAT: {1, makes}, unix.SYS_UNLINKAT: {1, removes}, unix.SYS_SYMLINKAT: {2, makes},
		unix.SYS_LINKAT: {1, makes}, unix.SYS_RENAMEAT2: {1, renames},
	}
	maps.Copy(calls, machinePathCalls)
	return calls
}()

// kind returns which names the system call changes.
func (c *systemCall) kind() callKind {
	if c.number == unix.SYS_OPENAT && c.args[2]&unix.O_CREAT != 0 {
		return opens
	}
	return pathCalls[c.number].kind
}

// reads reports whether the system call reads an open file.
func (c *systemCall) reads() bool {
	switch c.number {
	case unix.SYS_READ, unix.SYS_PREAD64, unix.SYS_READV, unix.SYS_PREADV:
		return true
	}
	return false
}

// maxAhead is how many names of a path are read ahead.
const maxAhead = 16

// names returns the first names of the path that the system call takes, below the directory at
// which it is mounted if the path is absolute. They are a hint: the program may have changed its
// memory since.
func (c *systemCall) names(mounted string) (names []string) {
	call, ok := pathCalls[c.number]
	if !ok {
		return nil
	}
	path := readString(c.thread, uintptr(c.args[call.path]))
	if strings.HasPrefix(path, "/") {
		if path, ok = strings.CutPrefix(path, mounted+"/"); !ok {
			return nil
		}
	}
	for name := range strings.SplitSeq(path, "/") {
		switch {
		case name == "" || name == ".":
		case !store.ValidName(name) || len(names) == maxAhead:
			return names
		default:
			names = append(names, name)
		}
	}
	return names
}

// mostPeeks is how many threads may look at the memory of programs at once. A program can make such
// a look wait, by userfaultfd(2) for example, but only its own requests wait then.
const mostPeeks = 16

var peeks atomic.Int32

// readString returns a string in the memory of a thread, or "".
func readString(thread uint32, at uintptr) string {
	defer peeks.Add(-1)
	if peeks.Add(1) > mostPeeks {
		return ""
	}
	var s []byte
	for len(s) < store.MaxPath {
		piece := make([]byte, min(256, unix.Getpagesize()-int(at)%unix.Getpagesize()))
		local := []unix.Iovec{{Base: &piece[0]}}
		local[0].SetLen(len(piece))
		n, err := unix.ProcessVMReadv(int(thread), local, []unix.RemoteIovec{{Base: at, Len: len(piece)}}, 0)
		if err != nil || n == 0 {
			return ""
		}
		if end := bytes.IndexByte(piece[:n], 0); end >= 0 {
			return string(append(s, piece[:end]...))
		}
		s, at = append(s, piece[:n]...), at+uintptr(n)
	}
	return ""
}
