package machine

import "syscall"

// memoryDir is a directory in memory that has room for all that is made here, or "".
func memoryDir() string {
	const dir, need = "/dev/shm", 2 << 30
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil || int64(s.Bavail)*int64(s.Bsize) < need {
		return ""
	}
	return dir
}
