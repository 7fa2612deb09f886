//go:build linux || darwin

package osfile_test

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/internal/osfile"
)

const havePOSIX = true

// skipBlind skips a test of locks of another library in this process, which do not show if the
// locks of this package are POSIX locks, too.
func skipBlind(t *testing.T) {
	t.Helper()
	if !osfile.SeesProcess {
		t.Skip("skipped: POSIX locks of one process do not exclude each other")
	}
}

// A posixFile stands for another library in this process: it locks like C SQLite.
type posixFile struct{ f *os.File }

func openPOSIX(name string) (posixFile, error) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	return posixFile{f}, err
}

func (p posixFile) lock(kind osfile.LockKind, off, n int64) error {
	typ := int16(unix.F_RDLCK)
	if kind == osfile.Exclusive {
		typ = unix.F_WRLCK
	}
	return p.set(typ, off, n)
}

func (p posixFile) unlock(off, n int64) error { return p.set(unix.F_UNLCK, off, n) }

func (p posixFile) set(typ int16, off, n int64) error {
	lk := unix.Flock_t{Type: typ, Start: off, Len: n}
	return unix.FcntlFlock(p.f.Fd(), unix.F_SETLK, &lk)
}

// held keeps the files of holdPOSIX from the garbage collector, whose close would drop the locks.
var held []posixFile

// holdPOSIX takes a POSIX lock and keeps it until the process ends.
func holdPOSIX(name string, kind osfile.LockKind, off, n int64) error {
	p, err := openPOSIX(name)
	if err != nil {
		return err
	}
	held = append(held, p)
	return p.lock(kind, off, n)
}
