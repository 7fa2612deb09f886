//go:build unix

package osfile

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// The registry holds every descriptor of this package. A File's Close parks its descriptor, then a
// sweep closes the parked ones that it can. A parked descriptor holds no lock and serves the next
// Open of the same inode in the same mode.
//
// Closing is harmless while no other code in the process holds the inode open: POSIX locks cannot
// exist without a descriptor, and ours carry none. The list of the process's descriptors tells, but
// not for the future: a library that opens the file after the list was read, and locks it within
// the microsecond before our close, loses that lock. Hence, for an inode that other code was once
// seen to have open, the list is not trusted again:
//
//	R1  The descriptor of an inode that other code has open, or on which this process holds a POSIX
//	    lock, is never closed.
//	R2  The descriptor of an inode that other code had open earlier (mixed) is closed only in four
//	    cases: the file has no name any more, more than maxParked are parked, the process has run
//	    out of descriptors, or a caller asks whether a file is open elsewhere.
//
// So a program without a second SQLite parks nothing. A program with a second one never has more
// descriptors of an inode, open and parked, than it had Files of it open at one time, and keeps at
// most maxParked without need. One race remains: the microsecond in which other code opens the file
// for the very first time.
var registry struct {
	mu     sync.Mutex           // guards the fields below and the mixed of every description
	ours   map[int]*description // by descriptor, open and parked
	parked []*description       // the longest parked first
}

const maxParked = 128

// acquire returns a description of the file with this resolved name: a parked one or a new one.
func acquire(name string, flag int, perm fs.FileMode) (*description, error) {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0:
	case err != nil:
		return nil, err
	case flag&os.O_EXCL != 0 && flag&os.O_CREATE != 0:
		return nil, syscall.EEXIST
	case !info.Mode().IsRegular():
		return nil, kindError(info.Mode())
	default:
		if d := unpark(idOf(info), flag); d != nil {
			return d, nil
		}
	}
	d, err := openDescription(name, flag, perm)
	if errors.Is(err, syscall.EMFILE) {
		_ = sweep(0) // its error belongs to files that are closed already
		d, err = openDescription(name, flag, perm)
	}
	if err != nil {
		return nil, err
	}
	register(d)
	return d, nil
}

func register(d *description) {
	registry.mu.Lock()
	defer registry.mu.Unlock()
	if registry.ours == nil {
		registry.ours = make(map[int]*description)
	}
	for _, other := range registry.ours {
		if other.id == d.id {
			d.mixed = other.mixed
			break
		}
	}
	registry.ours[d.fd] = d
}

// unpark takes a parked description of the inode out of the registry. The rights to the file are
// the ones at the time when it was opened.
func unpark(id fileID, flag int) *description {
	if flag&os.O_TRUNC != 0 {
		return nil
	}
	registry.mu.Lock()
	defer registry.mu.Unlock()
	i := slices.IndexFunc(registry.parked, func(d *description) bool {
		return d.id == id && d.flag == lasting(flag)
	})
	if i < 0 {
		return nil
	}
	d := registry.parked[i]
	registry.parked = slices.Delete(registry.parked, i, i+1)
	return d
}

// release ends the use of d. Its locks go now and explicitly: a child that a fork left with the
// description would keep them past a close.
func release(d *description) error {
	err := d.unlockAll()
	registry.mu.Lock()
	registry.parked = append(registry.parked, d)
	registry.mu.Unlock()
	return cmp.Or(err, sweep(maxParked))
}

// sweep closes parked descriptors by the rules R1 and R2, descriptors of mixed inodes as long as
// more than spare are parked. It returns the first error of a close.
func sweep(spare int) (closed error) {
	registry.mu.Lock()
	defer registry.mu.Unlock()
	if len(registry.parked) == 0 {
		return nil
	}
	foreign, err := foreignInodes()
	if err != nil {
		return nil // nothing is known, so all stay
	}
	for _, d := range registry.ours {
		d.mixed = d.mixed || foreign[d.id]
	}
	excess := len(registry.parked) - spare
	registry.parked = slices.DeleteFunc(registry.parked, func(d *description) bool {
		if foreign[d.id] || d.lockedHere() || d.mixed && excess <= 0 && d.named() {
			return false
		}
		excess--
		delete(registry.ours, d.fd)
		closed = cmp.Or(closed, d.file.Close())
		return true
	})
	return closed
}

// foreignInodes returns the inodes that the process has open through descriptors that are not ours.
// If the system has no list of descriptors it returns nothing, and lockedHere alone decides.
// registry.mu is held.
func foreignInodes() (map[fileID]bool, error) {
	fds, err := descriptors()
	if err != nil {
		return nil, err
	}
	foreign := make(map[fileID]bool)
	for _, fd := range fds {
		if registry.ours[fd] != nil {
			continue
		}
		if st, err := (&description{fd: fd}).status(); err == nil && st.regular {
			foreign[st.id] = true
		}
	}
	return foreign, nil
}

// descriptors lists the process's descriptors, and perhaps some numbers that are none.
func descriptors() ([]int, error) {
	dir := "/dev/fd"
	if runtime.GOOS == "linux" {
		dir = "/proc/self/fd"
	}
	names, err := readNames(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, syscall.EMFILE):
		return allDescriptors()
	case err != nil:
		return nil, err
	}
	fds := make([]int, 0, len(names))
	for _, name := range names {
		if fd, err := strconv.Atoi(name); err == nil {
			fds = append(fds, fd)
		}
	}
	return fds, nil
}

// allDescriptors lists every possible descriptor, for when none is left to read a directory: then
// most of them are open.
func allDescriptors() ([]int, error) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return nil, err
	}
	fds := make([]int, min(limit.Cur, 1<<20))
	for fd := range fds {
		fds[fd] = fd
	}
	return fds, nil
}

func readNames(dir string) ([]string, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Readdirnames(-1)
}

func idOf(info fs.FileInfo) fileID {
	st := info.Sys().(*syscall.Stat_t)
	return fileID{uint64(st.Dev), uint64(st.Ino)}
}
