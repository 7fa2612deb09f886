package osfile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/osfile"
)

const (
	far  = 1 << 30 // past the end of any file here
	size = 510
)

// lockRole holds a lock: "posix" or "own", the kind, the file.
func lockRole(args []string) error {
	kind, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	if args[0] == "posix" {
		err = holdPOSIX(args[2], osfile.LockKind(kind), far, size)
	} else {
		var f *osfile.File
		if f, err = osfile.Open(args[2], os.O_RDWR, 0); err == nil {
			err = f.Lock(osfile.LockKind(kind), far, size)
		}
	}
	if err != nil {
		return err
	}
	ready()
	return nil
}

// tryRole says "locked" if it cannot take an exclusive lock of the file.
func tryRole(args []string) error {
	f, err := osfile.Open(args[0], os.O_RDWR, 0)
	if err != nil {
		return err
	}
	fmt.Println("ok")
	err = f.Lock(osfile.Exclusive, far, size)
	if errors.Is(err, osfile.ErrLocked) {
		fmt.Println("locked")
		return nil
	}
	fmt.Println("free")
	return err
}

// Two Files, in one process or two, and a POSIX lock of another process: all respect each other
// alike.
func TestLockConflicts(t *testing.T) {
	t.Parallel()
	for _, holder := range []string{"file", "own", "posix"} {
		for _, held := range []osfile.LockKind{osfile.Shared, osfile.Exclusive} {
			t.Run(fmt.Sprint(holder, held), func(t *testing.T) {
				t.Parallel()
				name := filepath.Join(t.TempDir(), "x")
				write(t, name)
				release := hold(t, holder, held, name)
				f := open(t, name)
				for _, wanted := range []osfile.LockKind{osfile.Shared, osfile.Exclusive} {
					conflict := held == osfile.Exclusive || wanted == osfile.Exclusive
					checkLock(t, f, wanted, far+size-1, conflict)
					checkLock(t, f, wanted, far+size, false)
					checkLock(t, f, wanted, far-1, false)
				}
				checkHolder(t, f, holder)
				release()
				checkLock(t, f, osfile.Exclusive, far, false)
			})
		}
	}
}

// hold takes the lock as the holder says, and returns a function that releases it.
func hold(t *testing.T, holder string, kind osfile.LockKind, name string) (release func()) {
	t.Helper()
	if holder != "file" {
		if holder == "posix" && !havePOSIX {
			t.Skip("no POSIX locks on this system")
		}
		return start(t, "lock", holder, strconv.Itoa(int(kind)), name).stop
	}
	f := open(t, name)
	if err := f.Lock(kind, far, size); err != nil {
		t.Fatal(err)
	}
	return func() { _ = f.Close() }
}

// checkLock asks for and takes a lock on one byte, and gives it up.
func checkLock(t *testing.T, f *osfile.File, kind osfile.LockKind, off int64, conflict bool) {
	t.Helper()
	if locked, err := f.Locked(kind, off, 1); locked != conflict || err != nil {
		t.Errorf("Locked(%d) at %d = %v, %v", kind, off, locked, err)
	}
	err := f.Lock(kind, off, 1)
	if errors.Is(err, osfile.ErrLocked) != conflict || !conflict && err != nil {
		t.Errorf("Lock(%d) at %d: %v", kind, off, err)
	}
	if conflict {
		wantPathError(t, err, "lock", f.Name(), osfile.ErrLocked)
		return
	}
	if err := f.Unlock(off, 1); err != nil {
		t.Errorf("Unlock at %d: %v", off, err)
	}
}

// checkHolder asks whose lock it is.
func checkHolder(t *testing.T, f *osfile.File, holder string) {
	t.Helper()
	pid, err := f.Holder(osfile.Exclusive, far, size)
	if err != nil {
		t.Error(err)
	}
	switch {
	case holder == "file" && runtime.GOOS == "linux" && pid != os.Getpid():
		t.Errorf("held by process %d, want this one, %d", pid, os.Getpid())
	case holder == "posix" && (pid <= 0 || pid == os.Getpid()):
		t.Errorf("held by process %d, want another one", pid)
	case holder == "own" && pid == os.Getpid():
		t.Error("held by this process, want another one")
	}
	if pid, err := f.Holder(osfile.Exclusive, far+size, 1); pid != 0 || err != nil {
		t.Errorf("nobody's lock is held by %d, %v", pid, err)
	}
}

// A lock changes its kind, or stays as it was.
func TestLockConversion(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "x")
	a, b := open(t, name), open(t, name)
	must.Do(t, a.Lock(osfile.Shared, far, size))
	must.Do(t, b.Lock(osfile.Shared, far, size))
	if err := a.Lock(osfile.Exclusive, far, size); !errors.Is(err, osfile.ErrLocked) {
		t.Errorf("upgrade beside another reader: %v", err)
	}
	if locked, err := a.Locked(osfile.Exclusive, far, size); !locked || err != nil {
		t.Errorf("beside another reader: Locked = %v, %v", locked, err)
	}
	must.Do(t, b.Unlock(far, size))
	if locked, err := a.Locked(osfile.Exclusive, far, size); locked || err != nil {
		t.Errorf("alone: Locked = %v, %v", locked, err)
	}
	checkLock(t, b, osfile.Exclusive, far, true) // a is still a reader
	must.Do(t, a.Lock(osfile.Shared, far, size)) // which changes nothing
	must.Do(t, a.Lock(osfile.Exclusive, far, size))
	checkLock(t, b, osfile.Shared, far, true)
	must.Do(t, a.Lock(osfile.Shared, far, size))
	checkLock(t, b, osfile.Shared, far, false)
	if osfile.SplitsLocks {
		must.Do(t, a.Unlock(far, 1))
		checkLock(t, b, osfile.Exclusive, far, false) // a part of a range can be unlocked
		checkLock(t, b, osfile.Exclusive, far+1, true)
	}
	must.Do(t, a.Unlock(far-1, size+2)) // whatever is locked in there
	checkLock(t, b, osfile.Exclusive, far, false)
	checkLock(t, b, osfile.Exclusive, far+1, false)
}

func TestLockAllocatesNothing(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "x"))
	n := testing.AllocsPerRun(100, func() {
		if err := errors.Join(f.Lock(osfile.Shared, far, size), f.Unlock(far, size)); err != nil {
			t.Error(err)
		}
		if _, err := f.Locked(osfile.Exclusive, far, size); err != nil {
			t.Error(err)
		}
		if _, err := f.Size(); err != nil {
			t.Error(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkLockUnlock(b *testing.B) {
	f, err := osfile.Open(filepath.Join(b.TempDir(), "x"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	b.ReportAllocs()
	for b.Loop() {
		if err := f.Lock(osfile.Shared, far, size); err != nil {
			b.Fatal(err)
		}
		if err := f.Unlock(far, size); err != nil {
			b.Fatal(err)
		}
	}
}
