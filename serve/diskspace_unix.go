//go:build linux || darwin || freebsd

package serve

import "golang.org/x/sys/unix"

// diskSpace returns how many bytes the disk of a file has free.
func diskSpace(name string) (bytes int64, known bool) {
	var st unix.Statfs_t
	if name == "" || unix.Statfs(name, &st) != nil {
		return 0, false
	}
	return int64(st.Bavail) * int64(st.Bsize), true
}
