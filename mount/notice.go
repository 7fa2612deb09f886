//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"os"

	"golang.org/x/sys/unix"
)

// A notice tells when the files of a database are written. Shared memory, through which a commit
// becomes visible, tells nothing; but a process writes the log before.
type notice struct {
	path   string
	fd     int
	file   *os.File
	log    bool // the log is watched; there may be none at first
	events chan struct{}
	armed  chan struct{}
}

// newNotice watches a database and its log.
func newNotice(path string) (*notice, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, err
	}
	n := &notice{path: path, fd: fd, file: os.NewFile(uintptr(fd), "inotify"), events: make(chan struct{}, 1), armed: make(chan struct{}, 1)}
	if _, err := unix.InotifyAddWatch(fd, path, unix.IN_MODIFY); err != nil {
		_ = n.file.Close()
		return nil, err
	}
	go n.read()
	return n, nil
}

// read waits for the next event each time that the watch has armed the notice.
func (n *notice) read() {
	b := make([]byte, 64<<10)
	for range n.armed {
		if _, err := n.file.Read(b); err != nil {
			return
		}
		n.events <- struct{}{}
	}
}

// arm lets the next write be told, or one since the last was told.
func (n *notice) arm() {
	if !n.log { // whoever makes a log writes to the database first
		_, err := unix.InotifyAddWatch(n.fd, n.path+"-wal", unix.IN_MODIFY)
		n.log = err == nil
	}
	select {
	case n.armed <- struct{}{}:
	default:
	}
}

// written returns where a write is told. A nil notice tells none.
func (n *notice) written() <-chan struct{} {
	if n == nil {
		return nil
	}
	return n.events
}

// close ends the notice.
func (n *notice) close() {
	if n != nil {
		_ = n.file.Close()
		close(n.armed)
	}
}
