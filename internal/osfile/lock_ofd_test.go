//go:build linux || darwin

package osfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/osfile"
)

// Another library's lock in this process counts like any other, and a C SQLite sees ours.
func TestLockAgainstPOSIXInProcess(t *testing.T) {
	t.Parallel()
	skipBlind(t)
	name := filepath.Join(t.TempDir(), "x")
	f := open(t, name)
	p, err := openPOSIX(name)
	must.Do(t, err)
	defer p.f.Close()
	must.Do(t, p.lock(osfile.Exclusive, far, size))
	checkLock(t, f, osfile.Shared, far, true)
	must.Do(t, p.unlock(far, size))
	must.Do(t, f.Lock(osfile.Shared, far, size))
	must.Do(t, p.lock(osfile.Shared, far, size))
	if err := p.lock(osfile.Exclusive, far, size); !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EACCES) {
		t.Errorf("POSIX lock over ours: %v", err)
	}
	lk := unix.Flock_t{Type: unix.F_WRLCK, Start: far, Len: size}
	must.Do(t, unix.FcntlFlock(p.f.Fd(), unix.F_GETLK, &lk))
	if lk.Type != unix.F_RDLCK || lk.Pid != -1 {
		t.Errorf("F_GETLK shows our lock as %+v", lk)
	}
}

// Close unlocks even when a child still has the description.
func TestCloseUnlocksDespiteChild(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "x")
	a, b := open(t, name), open(t, name)
	must.Do(t, a.Lock(osfile.Exclusive, far, size))
	dup, err := unix.FcntlInt(uintptr(a.FD()), unix.F_DUPFD_CLOEXEC, 0) // as a fork would
	must.Do(t, err)
	defer unix.Close(dup)
	must.Do(t, a.Close())
	checkLock(t, b, osfile.Exclusive, far, false)
}

func TestLockSharedReadOnly(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "x")
	write(t, name)
	f, err := osfile.Open(name, os.O_RDONLY, 0)
	must.Do(t, err)
	defer f.Close()
	must.Do(t, f.Lock(osfile.Shared, far, size))
	err = f.Lock(osfile.Exclusive, far, size)
	wantPathError(t, err, "lock", f.Name(), unix.EBADF)
}

// A File that is closed takes no lock of another File of the process with it.
func TestCloseKeepsOwnLocks(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "x")
	a, b := open(t, name), open(t, name)
	must.Do(t, a.Lock(osfile.Shared, far, size))
	must.Do(t, b.Lock(osfile.Shared, far+1, size))
	must.Do(t, b.Close())
	must.Do(t, open(t, name).Close())
	tryOther(t, name, true)
	must.Do(t, a.Close())
	tryOther(t, name, false)
}

// tryOther lets another process take the lock.
func tryOther(t *testing.T, name string, conflict bool) {
	t.Helper()
	p := start(t, "try", name)
	defer p.stop()
	if got := p.line(); (got == "locked") != conflict {
		t.Errorf("another process says %q", got)
	}
}
