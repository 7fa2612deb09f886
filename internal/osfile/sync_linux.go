package osfile

import "golang.org/x/sys/unix"

// sync makes durable what the file holds, and its size, but not the times of its inode: those cost a commit of the file system's
// journal each time.
func (f *File) sync() error {
	for {
		if err := unix.Fdatasync(f.d.fd); err != unix.EINTR {
			return err
		}
	}
}
