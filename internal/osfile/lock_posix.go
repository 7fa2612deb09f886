//go:build unix && ((!linux && !darwin) || posixlocks)

package osfile

import (
	"io"
	"math"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// POSIX locks, for systems without locks of open file descriptions. They belong to the process, so
// that two descriptions of a file in one process do not exclude each other, and all of them go when
// any descriptor of the file is closed. A table of all locks of this process makes up for the
// first. The registry makes up for the second: it closes no descriptor of a file on which this
// package holds a lock (lockedHere). It cannot prevent that other code in the process closes the
// file, such as a C SQLite: there, the two must not open the same database in one process.
//
// The tag posixlocks builds this on Linux and macOS as well, for tests.

// SplitsLocks says that a part of a locked range can be unlocked, and that a file's own locks do
// not stand in its way.
const SplitsLocks = true

// SeesProcess says that locks of other code in this process are in the way of ours.
const SeesProcess = false

// LocksForbidWrites says that bytes that are locked Shared cannot be written.
const LocksForbidWrites = false

// lockState leads from a description to the table.
type lockState struct {
	inode *inodeLocks // nil while the description has taken no lock
}

// inodeLocks are the locks that this process holds on one file.
type inodeLocks struct {
	users int // descriptions that lead here
	held  []heldLock
}

// A heldLock is a lock of one description on the bytes from off up to end.
type heldLock struct {
	owner    *description
	kind     LockKind
	off, end int64
}

func (h *heldLock) overlaps(off, end int64) bool { return h.off < end && off < h.end }

var processLocks struct {
	mu     sync.Mutex // guards inodes, the structs they point to, and the locks of the process
	inodes map[fileID]*inodeLocks
}

// table returns the locks of the file. processLocks.mu is held.
func (d *description) table() *inodeLocks {
	if d.locks.inode != nil {
		return d.locks.inode
	}
	l := processLocks.inodes[d.id]
	if l == nil {
		if processLocks.inodes == nil {
			processLocks.inodes = make(map[fileID]*inodeLocks)
		}
		l = new(inodeLocks)
		processLocks.inodes[d.id] = l
	}
	l.users++
	d.locks.inode = l
	return l
}

// conflicts reports whether a lock of another description of this process is in the way.
func (l *inodeLocks) conflicts(d *description, kind LockKind, off, end int64) bool {
	for i := range l.held {
		h := &l.held[i]
		if h.owner != d && h.overlaps(off, end) && (kind == Exclusive || h.kind == Exclusive) {
			return true
		}
	}
	return false
}

// cut takes a range out of the locks of a description.
func (l *inodeLocks) cut(d *description, off, end int64) {
	for i := len(l.held) - 1; i >= 0; i-- {
		h := l.held[i]
		if h.owner != d || !h.overlaps(off, end) {
			continue
		}
		l.held = slices.Delete(l.held, i, i+1)
		if h.off < off {
			l.held = append(l.held, heldLock{d, h.kind, h.off, off})
		}
		if end < h.end {
			l.held = append(l.held, heldLock{d, h.kind, end, h.end})
		}
	}
}

func (d *description) lock(kind LockKind, off, n int64) error {
	processLocks.mu.Lock()
	defer processLocks.mu.Unlock()
	l, end := d.table(), off+n
	if l.conflicts(d, kind, off, end) {
		return ErrLocked
	}
	if err := d.setLock(lockType[kind], off, end); err != nil {
		return err
	}
	l.cut(d, off, end)
	l.held = append(l.held, heldLock{d, kind, off, end})
	return nil
}

func (d *description) unlock(off, n int64) error {
	processLocks.mu.Lock()
	defer processLocks.mu.Unlock()
	return d.drop(off, off+n)
}

// drop unlocks a range, except for the bytes that other descriptions of this process have locked:
// all of them share these.
func (d *description) drop(off, end int64) error {
	l := d.locks.inode
	if l == nil {
		return nil
	}
	l.cut(d, off, end)
	for off < end {
		free, next := end, end // the others have from free up to next
		for i := range l.held {
			if h := &l.held[i]; h.overlaps(off, end) && max(h.off, off) < free {
				free, next = max(h.off, off), min(h.end, end)
			}
		}
		if off < free {
			if err := d.setLock(unix.F_UNLCK, off, free); err != nil {
				return err
			}
		}
		off = next
	}
	return nil
}

func (d *description) unlockAll() error {
	processLocks.mu.Lock()
	defer processLocks.mu.Unlock()
	err := d.drop(0, math.MaxInt64)
	if l := d.locks.inode; l != nil {
		d.locks.inode = nil
		if l.users--; l.users == 0 {
			delete(processLocks.inodes, d.id)
		}
	}
	return err
}

func (d *description) locked(kind LockKind, off, n int64) (bool, error) {
	pid, err := d.inTheWay(kind, off, n)
	return pid != 0, err
}

func (d *description) holder(kind LockKind, off, n int64) (pid int, err error) {
	if pid, err = d.inTheWay(kind, off, n); pid < 0 {
		pid = 0
	}
	return pid, err
}

// inTheWay returns the process that holds a lock in the way: 0 if there is none, and a number below
// that if the system does not tell.
func (d *description) inTheWay(kind LockKind, off, n int64) (pid int, err error) {
	processLocks.mu.Lock()
	defer processLocks.mu.Unlock()
	if l := processLocks.inodes[d.id]; l != nil && l.conflicts(d, kind, off, off+n) {
		return Process, nil
	}
	lk := unix.Flock_t{Type: lockType[kind], Whence: io.SeekStart, Start: off, Len: n}
	if err := fcntl(d.fd, unix.F_GETLK, &lk); err != nil || lk.Type == unix.F_UNLCK {
		return 0, explainLock(err)
	}
	if lk.Pid <= 0 {
		return -1, nil
	}
	return int(lk.Pid), nil
}

// lockedHere reports whether this package holds a lock on the file: to close any descriptor of the
// file would drop it.
func (d *description) lockedHere() bool {
	processLocks.mu.Lock()
	defer processLocks.mu.Unlock()
	l := processLocks.inodes[d.id]
	return l != nil && len(l.held) > 0
}

func (d *description) setLock(typ int16, off, end int64) error {
	lk := unix.Flock_t{Type: typ, Whence: io.SeekStart, Start: off, Len: end - off}
	if end == math.MaxInt64 {
		lk.Len = 0 // to the end of any file
	}
	switch err := fcntl(d.fd, unix.F_SETLK, &lk); err {
	case unix.EAGAIN, unix.EACCES:
		return ErrLocked
	default:
		return explainLock(err)
	}
}
