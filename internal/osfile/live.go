package osfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// A live file is a temporary file that its process holds a lock on. A process that is killed leaves
// the file without the lock: that is how RemoveDead knows that no process will finish it.
const (
	livePrefix = ".folio-build-"
	liveSuffix = ".tmp"
	liveByte   = 1<<62 + 1 // behind any content and any other lock
)

// LivePattern is the pattern of the names of live files, for CreateTemp.
const LivePattern = livePrefix + "*" + liveSuffix

// IsLiveName reports whether a live file may have the name, which is without a directory.
func IsLiveName(name string) bool {
	return strings.HasPrefix(name, livePrefix) && strings.HasSuffix(name, liveSuffix)
}

// CreateLive makes a live file by create, which is called with a directory and LivePattern, and
// calls it again if another process was faster to take the new file for a dead one. If the
// system has no locks the file is not locked, and stays if the process is killed.
func CreateLive(dir string, create func(dir, pattern string) (*File, error)) (*File, error) {
	for {
		f, err := create(dir, LivePattern)
		if err != nil {
			return nil, err
		}
		err = f.Lock(Exclusive, liveByte, 1)
		if moved, _ := f.Moved(); !moved && !errors.Is(err, ErrLocked) {
			return f, nil
		}
		f.temp = false // its name is gone, or about to go
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
}

// RemoveDead removes the live files in a directory whose processes are gone. It leaves files that
// it cannot open or lock.
func RemoveDead(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	for {
		names, err := d.Readdirnames(1024)
		for _, name := range names {
			if IsLiveName(name) {
				removeDead(filepath.Join(dir, name))
			}
		}
		if err != nil {
			return nil
		}
	}
}

// removeDead removes a file unless a process holds its lock. The lock is held until the name is
// gone, so that a process that has just made the file, and not locked it yet, finds out.
func removeDead(name string) {
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return
	}
	f, err := Open(name, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if f.Lock(Exclusive, liveByte, 1) != nil {
		return
	}
	if moved, err := f.Moved(); err == nil && !moved {
		_ = os.Remove(name)
	}
}
