//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"os"

	"golang.org/x/sys/unix"
)

// An inotifyWatch reports writes to the files of a database. A commit becomes visible through
// shared memory, whose changes inotify does not report, but every process writes the log first.
type inotifyWatch struct {
	path   string
	fd     int
	file   *os.File
	log    bool // the log is watched; there may be none at first
	events chan struct{}
	armed  chan struct{}
}

// newNotice watches a database and its log.
func newInotifyWatch(path string) (*inotifyWatch, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, err
	}
	n := &inotifyWatch{path: path, fd: fd, file: os.NewFile(uintptr(fd), "inotify"), events: make(chan struct{}, 1), armed: make(chan struct{}, 1)}
	if _, err := unix.InotifyAddWatch(fd, path, unix.IN_MODIFY); err != nil {
		_ = n.file.Close()
		return nil, err
	}
	go n.read()
	return n, nil
}

// read waits for the next event each time that the watcher has armed it.
func (n *inotifyWatch) read() {
	b := make([]byte, 64<<10)
	for range n.armed {
		if _, err := n.file.Read(b); err != nil {
			return
		}
		n.events <- struct{}{}
	}
}

// arm asks for one event at the next write, or at once if there was a write since the last event.
func (n *inotifyWatch) arm() {
	if !n.log { // a process that creates a log writes to the database first
		_, err := unix.InotifyAddWatch(n.fd, n.path+"-wal", unix.IN_MODIFY)
		n.log = err == nil
	}
	select {
	case n.armed <- struct{}{}:
	default:
	}
}

// written returns the channel of events. A nil inotifyWatch has none.
func (n *inotifyWatch) written() <-chan struct{} {
	if n == nil {
		return nil
	}
	return n.events
}

// close ends the watch.
func (n *inotifyWatch) close() {
	if n != nil {
		_ = n.file.Close()
		close(n.armed)
	}
}
