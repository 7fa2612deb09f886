//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"os"
	"strconv"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// connect mounts a file system: by mount(2) if this process may, else by fusermount3.
func connect(m fuse.RawFileSystem, dir string, o *fuse.MountOptions) (*fuse.Server, error) {
	if c, err := connectDirect(m, dir, o); err == nil {
		return c, nil
	}
	return fuse.NewServer(m, dir, o)
}

// connectDirect mounts a file system by mount(2). Processes that this one starts do not get the
// device, as it would stay open in them when this process ends. go-fuse opens it without O_CLOEXEC
// here.
func connectDirect(m fuse.RawFileSystem, dir string, o *fuse.MountOptions) (*fuse.Server, error) {
	direct := *o
	direct.DirectMountStrict = true
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	c, err := fuse.NewServer(m, dir, &direct)
	if err != nil {
		return nil, err
	}
	fds, _ := os.ReadDir("/proc/self/fd")
	for _, fd := range fds {
		if file, _ := os.Readlink("/proc/self/fd/" + fd.Name()); file == fuseDevice {
			n, _ := strconv.Atoi(fd.Name())
			syscall.CloseOnExec(n)
		}
	}
	return c, nil
}

const fuseDevice = "/dev/fuse"
