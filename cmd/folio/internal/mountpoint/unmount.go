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
)

// A Way says how a volume is unmounted that programs use.
type Way int

const (
	IfUnused Way = iota // not at all
	Lazily              // it is taken out of sight, and its daemon ends when the last program is done
	ByForce             // programs that use it get errors, even if its daemon hangs
)

// Unmount unmounts a volume, and returns when its daemon has closed it. A mount whose daemon is
// gone is removed, whoever uses it.
func Unmount(dir string, way Way) error {
	real, err := Resolve(dir)
	if err != nil {
		return failure.At(dir, err)
	}
	mounts, err := list()
	if err != nil {
		return err
	}
	m, ok := at(mounts, real)
	switch {
	case !ok:
		return failure.Rehint(failure.At(dir, errNotMounted), "folio mounts lists where volumes are mounted")
	case !m.IsVolume():
		return failure.Rehint(failure.At(dir, fmt.Errorf("is a mount of %s, and no volume", m.Type)), "umount unmounts it")
	case os.Geteuid() != 0 && m.User != "" && m.User != strconv.Itoa(os.Geteuid()):
		return failure.Rehint(failure.At(dir, fmt.Errorf("was mounted by user %s", m.User)), "that user or root can unmount it")
	}
	wait, _ := m.Lifeline()
	if way == IfUnused {
		switch err := answer(real); {
		case isStale(err):
			way = Lazily
		case err == errSilent:
			return failure.Rehint(failure.At(dir, err), "--force ends it, and programs that use it get errors")
		}
	}
	if err := Detach(real, way); err != nil {
		return failure.Hint(failure.At(dir, err), "end the programs that use it, or take it out of sight with --lazy")
	}
	if way == IfUnused {
		wait()
	}
	return nil
}

// answering is how long a daemon may take to answer.
const answering = 5 * time.Second

// answer asks the daemon of a mount something, and returns errSilent if it does not answer. For
// example, a process that was killed while it waited for its own mount never ends.
func answer(dir string) error {
	answered := make(chan error, 1)
	go func() { answered <- statfs(dir) }()
	select {
	case err := <-answered:
		return err
	case <-time.After(answering):
		return errSilent
	}
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

// Announce lets Unmount wait until closed is called, by the process that has a volume mounted at a
// resolved directory. Where another process has the name of the socket, Unmount does not wait.
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
