//go:build linux || darwin

package main

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// lookSystem returns what the system knows beyond package fs, and the identity of a file with
// several names.
func lookSystem(_ string, info fs.FileInfo) (system, id string) {
	st := info.Sys().(*syscall.Stat_t)
	if st.Nlink > 1 {
		id = fmt.Sprint(st.Dev, st.Ino)
	}
	if info.Mode()&fs.ModeDevice != 0 {
		system = fmt.Sprint("device ", st.Rdev)
	}
	if os.Geteuid() == 0 {
		system += fmt.Sprint(" owner ", st.Uid, st.Gid)
	}
	return system, id
}
