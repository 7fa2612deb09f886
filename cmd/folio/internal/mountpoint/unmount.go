package mountpoint

import (
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/foliofs/folio/cmd/folio/internal/failure"
)

var (
	errNotMounted = errors.New("has no volume mounted")
	errInUse      = errors.New("is in use")
	errSilent     = errors.New("has a daemon that does not answer")
	errDying      = fmt.Errorf("%w, but for a thread", errStale)
)

// A Way says how a volume is unmounted that programs use.
type Way int

const (
	IfUnused Way = iota // not at all
	Lazily              // it is taken out of sight, and its daemon ends when the last program is done
	ByForce             // programs that use it get errors, even if its daemon hangs
)

// Unmount unmounts a volume, and returns when its daemon has closed it. A mount whose daemon is
// dead is removed, even if programs use it.
//
// The daemon may have died while one of its threads told the kernel to forget something. Such a
// thread, and all programs that use the mount, wait for ever; so nothing is asked of the mount
// before it is known that the daemon lives.
func Unmount(dir string, way Way) error {
	m, err := find(dir)
	switch {
	case err != nil:
		return err
	case os.Geteuid() != 0 && m.User != "" && m.User != strconv.Itoa(os.Geteuid()):
		return failure.Rehint(failure.At(dir, fmt.Errorf("was mounted by user %s", m.User)), "that user or root can unmount it")
	}
	wait, announced := m.Lifeline()
	if way == IfUnused || way == Lazily && !announced {
		switch err := m.answer(); {
		case isStale(err):
			way = Lazily
		case err == errSilent:
			return failure.Rehint(failure.At(dir, err), "--force ends it, and programs that use it get errors")
		}
	}
	if err := m.detach(way); err != nil {
		return failure.Hint(failure.At(dir, err), "end the programs that use it, or take it out of sight with --lazy")
	}
	if way == IfUnused {
		wait()
	}
	return nil
}

// find returns the mount of a volume at a directory.
func find(dir string) (m Mount, err error) {
	mounts, err := list()
	if err != nil {
		return m, err
	}
	real, err := resolve(mounts, dir)
	if err != nil {
		return m, failure.At(dir, err)
	}
	m, ok := at(mounts, real)
	switch {
	case !ok:
		err = failure.Rehint(failure.At(dir, errNotMounted), "folio mounts lists where volumes are mounted")
	case !m.IsVolume():
		err = failure.Rehint(failure.At(dir, fmt.Errorf("is a mount of %s, and no volume", m.Type)), "umount unmounts it")
	}
	return m, err
}

// detach unmounts the mount. If its daemon is dead, or the mount is to go by force, its connection
// is ended before: programs that wait get errors.
func (m *Mount) detach(way Way) error {
	if way == ByForce || m.dying() {
		_ = m.abort()
		return Detach(m.Dir, ByForce)
	}
	err := within(answering, func() error { return Detach(m.Dir, way) })
	if err == errSilent && m.dying() {
		return m.detach(ByForce)
	}
	return err
}

// answering is how long a daemon may take to answer.
const answering = 5 * time.Second

// answer asks the daemon of a mount something. The error is one of isStale if the daemon is dead,
// and errSilent if it does not answer. For example, a process that was killed while it waited for
// its own mount never ends.
func (m *Mount) answer() error {
	if m.dying() {
		return errDying
	}
	return within(answering, func() error { return statfs(m.Dir) })
}

// within calls a function that may wait in the kernel, and returns errSilent if it waits longer
// than that.
func within(limit time.Duration, fn func() error) error {
	done := make(chan error, 1)
	go func() { done <- fn() }()
	select {
	case err := <-done:
		return err
	case <-time.After(limit):
		return errSilent
	}
}

// dying reports whether the daemon of a mount was killed, but has not ended: one of its threads
// waits in the kernel.
func (m *Mount) dying() bool {
	conn, err := net.Dial("unix", m.socket())
	if err != nil {
		return false
	}
	defer conn.Close()
	return isDying(listener(conn.(*net.UnixConn)))
}

// closing is how long Unmount waits for a daemon to close its volume.
const closing = 30 * time.Second

// socket returns the name of a socket that the daemon of the mount listens on. It accepts nothing.
// A connection ends when the daemon does. The directory is in the name, because the kernel gives
// the device to another mount as soon as this one ends, before its daemon has closed the volume.
func (m *Mount) socket() string {
	dir := fnv.New64a()
	_, _ = dir.Write([]byte(m.Dir))
	return fmt.Sprintf("@folio-mount/%s/%x", m.Device, dir.Sum64())
}

// Announce lets Unmount wait until closed is called, by the process with a volume mounted at a
// resolved directory. If another process has the name of the socket, Unmount does not wait.
func Announce(dir string) (closed func()) {
	mounts, err := list()
	m, ok := at(mounts, dir)
	if err != nil || !ok {
		return func() {}
	}
	l, err := net.Listen("unix", m.socket())
	if err != nil {
		return func() {}
	}
	return func() { _ = l.Close() }
}

// Lifeline returns a function that waits until the daemon of a mount has closed the volume. ok
// reports whether the daemon has announced itself, which it does when all is mounted.
func (m *Mount) Lifeline() (wait func(), ok bool) {
	conn, err := net.Dial("unix", m.socket())
	if err != nil {
		return func() {}, false
	}
	return func() {
		defer conn.Close()
		_ = conn.SetReadDeadline(time.Now().Add(closing))
		_, _ = conn.Read(make([]byte, 1))
	}, true
}
