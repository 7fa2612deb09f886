//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/mount/internal/ring"
)

// A connection carries requests from the kernel to a file system.
type connection interface {
	notifier
	Serve() // returns when the file system is no longer mounted
	Unmount() error
}

// connect mounts a file system. Requests come over io_uring where the kernel offers that to root,
// and otherwise through /dev/fuse.
func connect(m fuse.RawFileSystem, dir string, o *fuse.MountOptions, daemon bool) (connection, error) {
	if daemon && os.Geteuid() == 0 && !o.Debug && ring.Enabled() {
		if c, err := connectRing(m, dir, o); err == nil {
			return c, nil
		}
	}
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

// A ringConnection carries requests over io_uring. What the kernel sends otherwise, for example
// what it forgets, and what it is sent, notices, goes through /dev/fuse.
type ringConnection struct {
	*fuse.Server
	dev  int
	dir  string
	ring *ring.Ring
}

// connectRing mounts a file system whose requests come over io_uring.
func connectRing(m fuse.RawFileSystem, dir string, o *fuse.MountOptions) (c *ringConnection, err error) {
	dev, err := unix.Open(fuseDevice, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	c = &ringConnection{dev: dev, dir: dir}
	defer func() {
		if err != nil {
			_ = unix.Close(dev)
		}
	}()
	if err := mountDevice(dev, dir, o); err != nil {
		return nil, err
	}
	if err := c.start(m, o); err != nil {
		return nil, errors.Join(err, unix.Unmount(dir, unix.MNT_DETACH|unix.MNT_FORCE))
	}
	return c, nil
}

// mountDevice mounts the device, as mount(8) would.
func mountDevice(dev int, dir string, o *fuse.MountOptions) error {
	flags := uintptr(unix.MS_NOSUID | unix.MS_NODEV)
	data := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0,max_read=%d", dev, o.MaxWrite)
	if o.AllowOther {
		data += ",allow_other"
	}
	for _, option := range o.Options {
		f, no := mountFlags[strings.TrimPrefix(option, "no")], strings.HasPrefix(option, "no")
		switch {
		case f == 0:
			data += "," + option
		case no:
			flags |= f
		default:
			flags &^= f
		}
	}
	return unix.Mount(o.FsName, dir, "fuse."+o.Name, flags, data)
}

var mountFlags = map[string]uintptr{"suid": unix.MS_NOSUID, "dev": unix.MS_NODEV, "exec": unix.MS_NOEXEC}

// start agrees with the kernel on io_uring, and lets requests come.
func (c *ringConnection) start(m fuse.RawFileSystem, o *fuse.MountOptions) (err error) {
	fd, err := unix.FcntlInt(uintptr(c.dev), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return err
	}
	other := *o
	other.DirectMount = false
	other.ExtraCapabilities |= fuse.CAP_OVER_IO_URING
	if c.Server, err = fuse.NewServer(m, fmt.Sprintf("/dev/fd/%d", fd), &other); err != nil {
		return err
	}
	go c.Server.Serve()
	settings := c.Server.KernelSettings()
	if settings.Flags64()&fuse.CAP_OVER_IO_URING == 0 {
		return errors.New("the kernel does not offer io_uring")
	}
	protocol := fuse.NewProtocolServer(m, &other)
	handle := func(in, out [][]byte) int {
		n, _ := protocol.HandleRequest(in, out)
		return n
	}
	// The protocol must know what was agreed on.
	first := unsafe.Slice((*byte)(unsafe.Pointer(settings)), unsafe.Sizeof(*settings))
	handle([][]byte{first}, [][]byte{make([]byte, 4096)})
	if c.ring, err = ring.Start(c.dev, o.MaxWrite, handle); err == nil {
		runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), spareContexts*runtime.NumCPU()))
	}
	return err
}

// spareContexts is how many threads of the process may run Go code at once, for each processor. A
// thread of the ring that has got its request needs such a right at once; to wait for one costs
// more than the request.
const spareContexts = 4

// Serve implements connection.
func (c *ringConnection) Serve() {
	c.ring.Wait()
	c.Server.Wait()
	_ = unix.Close(c.dev)
}

// Unmount implements connection. A program that has just closed its last file may be in the way for
// a moment.
func (c *ringConnection) Unmount() (err error) {
	for pause := 5 * time.Millisecond; pause < 200*time.Millisecond; pause *= 2 {
		if err = unix.Unmount(c.dir, 0); !errors.Is(err, syscall.EBUSY) {
			break
		}
		time.Sleep(pause)
	}
	return err
}
