package osfile

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	ofdSetLock = unix.F_OFD_SETLK
	ofdGetLock = unix.F_OFD_GETLK
)

// holderPatience is for how long ofdHolder looks around on a machine with many processes.
const holderPatience = 100 * time.Millisecond

// ofdHolder returns the number of the process with the description with this lock, which is not
// d; 0 if it is not found, or may not be seen. Each descriptor in /proc lists the locks of its
// description: "lock: 1: OFDLCK ADVISORY WRITE -1 08:01:1234 120 120".
func ofdHolder(d *description, lk *unix.Flock_t) int {
	end := "EOF"
	if lk.Len > 0 {
		end = strconv.FormatInt(lk.Start+lk.Len-1, 10)
	}
	line := fmt.Sprintf(":%d %d %s\n", d.id.ino, lk.Start, end)
	deadline := time.Now().Add(holderPatience)
	if hasLock("self", line, d.fd) {
		return Process
	}
	names, err := readNames("/proc")
	if err != nil {
		return 0
	}
	for _, name := range slices.Backward(names) { // the youngest first
		pid, err := strconv.Atoi(name)
		if err == nil && pid != Process && hasLock(name, line, -1) {
			return pid
		}
		if time.Now().After(deadline) {
			break
		}
	}
	return 0
}

// hasLock reports whether a descriptor of a process but one lists an OFD lock that ends in line.
func hasLock(process, line string, but int) bool {
	dir := "/proc/" + process + "/fdinfo/"
	fds, err := readNames(dir)
	if err != nil {
		return false // it ended, or belongs to another process
	}
	var buf [4096]byte
	for _, fd := range fds {
		if fd == strconv.Itoa(but) {
			continue
		}
		for info := range bytes.Lines(readInfo(dir+fd, buf[:])) {
			if bytes.HasPrefix(info, []byte("lock:")) && bytes.Contains(info, []byte(" OFDLCK ")) && bytes.HasSuffix(info, []byte(line)) {
				return true
			}
		}
	}
	return false
}

func readInfo(name string, buf []byte) []byte {
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	n, _ := io.ReadFull(f, buf) // the end comes early
	return buf[:n]
}
