//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"bytes"
	"flag"
	"io/fs"
	"runtime"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
)

var confirmedRounds = flag.Int("confirmed.rounds", 30, "how often TestConfirmed makes each change")

// A repeater makes system calls that differ by nothing but the path in its memory.
type repeater struct {
	t    *testing.T
	dir  int // a directory
	path [64]byte
	data [4096]byte
}

// call makes a system call with the directory, a path in it, and two more arguments.
func (r *repeater) call(number uintptr, path string, a, b uintptr) (uintptr, syscall.Errno) {
	r.path[copy(r.path[:], path)] = 0
	n, _, errno := syscall.Syscall6(number, uintptr(r.dir), uintptr(unsafe.Pointer(&r.path)), a, b, 0, 0)
	return n, errno
}

func (r *repeater) stat(path string) (unix.Stat_t, syscall.Errno) {
	_, errno := r.call(unix.SYS_NEWFSTATAT, path, uintptr(unsafe.Pointer(&r.data)), 0)
	return *(*unix.Stat_t)(unsafe.Pointer(&r.data)), errno
}

// TestConfirmed lets the library change a volume on a server beside a mount without max_staleness.
// A program in the mount, which makes the same system call again and again, sees each change as
// soon as it has returned.
func TestConfirmed(t *testing.T) {
	needFUSE(t)
	address := pgserver.Volume(t)
	d := startDaemon(t, address)
	v, err := openVolume(address)
	must.Do(t, err)
	defer v.Close()
	must.Do(t, v.Mkdir("dir", 0o755))
	must.Do(t, v.Mkdir("dir/taken", 0o755))
	must.Do(t, v.Symlink("..", "dir/up"))
	must.Do(t, v.WriteFile("dir/file", nil, 0o644))
	fd, err := unix.Open(d.path("dir"), unix.O_RDONLY|unix.O_DIRECTORY, 0)
	must.Do(t, err)
	defer unix.Close(fd)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r := &repeater{t: t, dir: fd}
	for i := range *confirmedRounds {
		r.attributes(v, i)
		r.contents(v, i)
		r.names(v, i)
		r.rights(v)
	}
}

// attributes changes attributes, those of directories as well.
func (r *repeater) attributes(v *folio.Volume, i int) {
	r.t.Helper()
	mode := fs.FileMode(0o600 + i%64)
	must.Do(r.t, v.Chmod("dir/file", mode))
	if st, errno := r.stat("file"); errno != 0 || st.Mode&0o777 != uint32(mode) {
		r.t.Fatalf("file: mode %o, want %o, %v", st.Mode&0o777, mode, errno)
	}
	f, errno := r.call(unix.SYS_OPENAT, "file", unix.O_PATH, 0) // it leaves a LOOKUP
	if errno != 0 {
		r.t.Fatal(errno)
	}
	defer unix.Close(int(f))
	must.Do(r.t, v.Chmod("dir/file", mode^0o100))
	var st unix.Stat_t
	if err := unix.Fstat(int(f), &st); err != nil || st.Mode&0o777 != uint32(mode^0o100) {
		r.t.Fatalf("file by O_PATH: mode %o, want %o, %v", st.Mode&0o777, mode^0o100, err)
	}
	for _, same := range [][2]string{{"dir", "."}, {".", "up"}, {"dir/taken", "taken/."}, {"dir", "../dir"}, {".", "taken/../up/."}} {
		at := time.Unix(1e9+int64(i), 0)
		_, _ = r.stat("file")
		must.Do(r.t, v.Chtimes(same[0], at, at))
		if st, errno := r.stat(same[1]); errno != 0 || st.Mtim.Sec != at.Unix() {
			r.t.Fatalf("%s: time %d, want %d, %v", same[1], st.Mtim.Sec, at.Unix(), errno)
		}
	}
}

// contents changes what is in a file.
func (r *repeater) contents(v *folio.Volume, i int) {
	r.t.Helper()
	want := bytes.Repeat([]byte{byte('a' + i%26)}, 1+i*37%len(r.data))
	must.Do(r.t, v.WriteFile("dir/file", want, 0o644))
	f, errno := r.call(unix.SYS_OPENAT, "file", unix.O_RDONLY, 0)
	if errno != 0 {
		r.t.Fatal(errno)
	}
	defer unix.Close(int(f))
	got, err := unix.Read(int(f), r.data[:])
	if err != nil || !bytes.Equal(r.data[:got], want) {
		r.t.Fatalf("%d bytes of %.1q, want %d of %.1q, %v", got, r.data[:got], len(want), want, err)
	}
}

// names makes and removes names in turn.
func (r *repeater) names(v *folio.Volume, i int) {
	r.t.Helper()
	expect := func(what string, errno, want syscall.Errno) {
		r.t.Helper()
		if errno != want {
			r.t.Fatalf("round %d: %s: %v, want %v", i, what, errno, want)
		}
	}
	_, errno := r.stat("name")
	expect("stat of no file", errno, syscall.ENOENT)
	_, errno = r.call(unix.SYS_UNLINKAT, "name", 0, 0)
	expect("unlink of no file", errno, syscall.ENOENT)
	must.Do(r.t, v.WriteFile("dir/name", nil, 0o644))
	_, errno = r.stat("name")
	expect("stat", errno, 0)
	_, errno = r.call(unix.SYS_MKDIRAT, "name", 0o755, 0)
	expect("mkdir over a file", errno, syscall.EEXIST)
	must.Do(r.t, v.Remove("dir/name"))
	_, errno = r.call(unix.SYS_MKDIRAT, "name", 0o755, 0)
	expect("mkdir", errno, 0)
	must.Do(r.t, v.Remove("dir/name"))
	_, errno = r.call(unix.SYS_OPENAT, "name", unix.O_RDONLY, 0)
	expect("open of no file", errno, syscall.ENOENT)
}

// rights takes the right to change a directory from a user, and gives it back.
func (r *repeater) rights(v *folio.Volume) {
	r.t.Helper()
	uid, _, _ := syscall.Syscall(unix.SYS_SETFSUID, 1234, 0, 0)
	defer func() { _, _, _ = syscall.Syscall(unix.SYS_SETFSUID, uid, 0, 0) }()
	for _, c := range []struct {
		mode fs.FileMode
		path string
		want syscall.Errno
	}{
		{0o777, "taken", syscall.EEXIST},
		{0o700, "taken", syscall.EACCES},
		{0o700, "new", syscall.EACCES},
		{0o777, "taken", syscall.EEXIST},
		{0o755, "new", syscall.EACCES},
		{0o777, "taken", syscall.EEXIST},
	} {
		must.Do(r.t, v.Chmod("dir", c.mode))
		if _, errno := r.call(unix.SYS_MKDIRAT, c.path, 0o755, 0); errno != c.want {
			r.t.Fatalf("mkdir %s in a directory of mode %o: %v, want %v", c.path, c.mode, errno, c.want)
		}
	}
	must.Do(r.t, v.Chmod("dir/file", 0o644))
	for _, mode := range []fs.FileMode{0o777, 0o700, 0o777, 0o755} {
		must.Do(r.t, v.Chmod("dir", mode))
		f, errno := r.call(unix.SYS_OPENAT, "file", unix.O_RDONLY|unix.O_CREAT, 0o644)
		if want := map[bool]syscall.Errno{true: syscall.EACCES}[mode == 0o700]; errno != want {
			r.t.Fatalf("open in a directory of mode %o: %v, want %v", mode, errno, want)
		}
		if errno == 0 {
			_ = unix.Close(int(f))
		}
	}
	must.Do(r.t, v.Chmod("dir", 0o755))
}
