package mountpoint

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/cmd/folio/internal/failure"
)

const (
	device = "/dev/fuse"
	// OtherWay is how volumes are served where they cannot be mounted.
	OtherWay = "serve the volume by WebDAV (package adapter/dav)"
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

// Detach unmounts what is mounted at a resolved directory.
func Detach(dir string, way Way) error {
	if os.Geteuid() == 0 {
		flags := unix.UMOUNT_NOFOLLOW
		switch way {
		case Lazily:
			flags |= unix.MNT_DETACH
		case ByForce:
			flags |= unix.MNT_DETACH | unix.MNT_FORCE
		}
		err := unix.Unmount(dir, flags)
		if err == unix.EBUSY {
			return errInUse
		}
		return err
	}
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

// statfs asks the daemon of a mount for something that the kernel does not keep.
func statfs(dir string) error {
	for {
		if err := unix.Statfs(dir, new(unix.Statfs_t)); err != unix.EINTR {
			return err
		}
	}
}

// isStale reports whether an error is that of a mount without a daemon.
func isStale(err error) bool {
	return errors.Is(err, unix.ENOTCONN) || errors.Is(err, unix.ECONNABORTED) || errors.Is(err, unix.ECANCELED)
}
