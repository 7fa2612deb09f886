//go:build unix

package osfile

import (
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

// The registry holds every descriptor of this package. Closing one is harmless when no other code in the
// process has the same inode open: POSIX locks cannot exist without a descriptor, and ours carry none.
// Otherwise the descriptor is parked, and is closed by a later sweep or used again by the next Open
// of the same inode in the same mode.
//
// So nothing is parked in a program without a second SQLite, and with one the descriptors of an inode, open
// and parked, never outnumber the Files of it that were open at one time.
//
// The proof is the list of the process's descriptors. Code that opens the file after the list was read and
// takes its first lock between the last look (lockedHere) and our close, within a microsecond or so, still loses
// that lock; no system call would exclude it without disturbing the locks of others.
var registry struct {
	mu     sync.Mutex           // guards what follows; held during no I/O on the files but close
	ours   map[int]*description // by descriptor, open and parked
	parked []*description       // hold no locks
}

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
		sweep()
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
	registry.ours[d.fd] = d
}

// unpark takes a parked description of the inode out of the registry. The rights to the file are those
// of the time when it was opened.
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

// release ends the use of d. Its locks go now and explicitly: a child that a fork left with the description
// would keep them past a close.
func release(d *description) error {
	err := d.unlockAll()
	registry.mu.Lock()
	registry.parked = append(registry.parked, d)
	registry.mu.Unlock()
	return errors.Join(err, sweep())
}

// sweep closes the parked descriptors that can be closed without harm.
func sweep() error {
	registry.mu.Lock()
	defer registry.mu.Unlock()
	if len(registry.parked) == 0 {
		return nil
	}
	foreign, err := foreignInodes()
	if err != nil {
		return nil // nothing is known, so all stay
	}
	var errs []error
	registry.parked = slices.DeleteFunc(registry.parked, func(d *description) bool {
		if foreign[d.id] || d.lockedHere() {
			return false
		}
		delete(registry.ours, d.fd)
		errs = append(errs, d.file.Close())
		return true
	})
	return errors.Join(errs...)
}

// foreignInodes returns the inodes that the process has open through descriptors that are not ours.
// Where the system offers no list it returns an empty set, and lockedHere alone decides. registry.mu is held.
func foreignInodes() (map[fileID]bool, error) {
	dir := "/dev/fd"
	if runtime.GOOS == "linux" {
		dir = "/proc/self/fd"
	}
	names, err := readNames(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	foreign := make(map[fileID]bool, len(names))
	for _, name := range names {
		fd, err := strconv.Atoi(name)
		if err != nil || registry.ours[fd] != nil {
			continue
		}
		var st unix.Stat_t
		if unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG {
			foreign[fileID{uint64(st.Dev), uint64(st.Ino)}] = true
		}
	}
	return foreign, nil
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
