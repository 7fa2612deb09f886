package mountpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/cmd/folio/internal/failure"
)

const (
	device = "/dev/fuse"
	// OtherWay is how volumes are served if they cannot be mounted.
	OtherWay = "serve the volume by WebDAV (folio serve)"
)

var errNoProgram = errors.New("is not installed, and only root mounts without it")

// Able says why volumes cannot be mounted here, if they cannot.
func Able() error {
	f, err := os.OpenFile(device, os.O_RDWR, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENODEV), errors.Is(err, unix.ENXIO):
		return failure.Rehint(failure.At(device, errors.New("there is no FUSE here")),
			"load the kernel's module (modprobe fuse), give a container this device, or "+OtherWay)
	case err != nil:
		return failure.Rehint(failure.At(device, err), "ask for the right to use FUSE, or "+OtherWay)
	}
	_ = f.Close()
	if os.Geteuid() == 0 || fusermount() != "" {
		return nil
	}
	return failure.Rehint(failure.At("fusermount3", errNoProgram), "install the package fuse3, or "+OtherWay)
}

// fusermount returns the program that mounts and unmounts for users, "" if there is none.
func fusermount() string {
	for _, name := range []string{"fusermount3", "/bin/fusermount3", "fusermount", "/bin/fusermount"} {
		if file, err := exec.LookPath(name); err == nil {
			return file
		}
	}
	return ""
}

// Detach unmounts the mount at a resolved directory. It asks nothing of the daemon.
func Detach(dir string, way Way) error {
	if os.Geteuid() != 0 {
		return detachAsUser(dir, way)
	}
	flags := unix.UMOUNT_NOFOLLOW
	switch way {
	case Lazily:
		flags |= unix.MNT_DETACH
	case ByForce:
		flags |= unix.MNT_DETACH | unix.MNT_FORCE
	}
	err := unix.Unmount(dir, flags)
	if err == unix.EPERM && way == ByForce { // root of a user namespace
		err = unix.Unmount(dir, flags&^unix.MNT_FORCE)
	}
	if err == unix.EBUSY {
		return errInUse
	}
	return err
}

// detachAsUser lets fusermount3 unmount.
func detachAsUser(dir string, way Way) error {
	args := []string{"-u", "--", dir}
	if way != IfUnused {
		args = []string{"-u", "-z", "--", dir}
	}
	program := fusermount()
	if program == "" {
		return failure.Rehint(errNoProgram, "install the package fuse3")
	}
	out, err := exec.Command(program, args...).CombinedOutput()
	if text := strings.TrimSpace(string(out)); err != nil && text != "" {
		return errors.New(text)
	}
	return err
}

// abort ends the connection of a mount. Root can do that, and the user who mounted it, if the
// file system fusectl is mounted.
func (m *Mount) abort() error {
	_, number, _ := strings.Cut(m.Device, ":")
	f, err := os.OpenFile("/sys/fs/fuse/connections/"+number+"/abort", os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString("1")
	return err
}

// listener returns the process that listens at the other end of a connection, 0 if it is not known.
func listener(conn *net.UnixConn) (pid int) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		if peer, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(peer.Pid)
		}
	})
	return pid
}

// isDying reports whether a process was killed, or exits. Its first thread may have ended, or may
// be the one that waits.
func isDying(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		switch name, value, _ := strings.Cut(line, ":"); name {
		case "State":
			if state := strings.TrimSpace(value)[:1]; state == "Z" || state == "X" {
				return true
			}
		case "SigPnd":
			pending, _ := strconv.ParseUint(strings.TrimSpace(value), 16, 64)
			if pending&(1<<(unix.SIGKILL-1)) != 0 {
				return true
			}
		}
	}
	return false
}

// statfs asks the daemon of a mount for something that the kernel does not keep.
func statfs(dir string) error {
	for {
		if err := unix.Statfs(dir, new(unix.Statfs_t)); err != unix.EINTR {
			return err
		}
	}
}

// isStale reports whether an error means a mount without a daemon.
func isStale(err error) bool {
	return errors.Is(err, unix.ENOTCONN) || errors.Is(err, unix.ECONNABORTED) || errors.Is(err, unix.ECANCELED) || errors.Is(err, errStale)
}
