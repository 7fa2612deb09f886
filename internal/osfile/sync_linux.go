package osfile

import "golang.org/x/sys/unix"

// sync makes the content and the size of the file durable, but not the times of its inode: those
// take a commit of the file system's journal each time.
func (f *File) sync() error {
	for {
		if err := unix.Fdatasync(f.d.fd); err != unix.EINTR {
			return err
		}
	}
}
