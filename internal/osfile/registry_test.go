//go:build linux || darwin

package osfile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/osfile"
)

func init() { roles["crowded"] = crowdedRole }

// descriptors lists the process's descriptors of the file that has this name.
func descriptors(t *testing.T, name string) []int {
	t.Helper()
	var st unix.Stat_t
	must.Do(t, unix.Stat(name, &st))
	return descriptorsOf(t, st)
}

func descriptorsOf(t *testing.T, want unix.Stat_t) []int {
	t.Helper()
	dir := "/dev/fd"
	if runtime.GOOS == "linux" {
		dir = "/proc/self/fd"
	}
	entries, err := os.ReadDir(dir)
	must.Do(t, err)
	var st unix.Stat_t
	var fds []int
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err == nil && unix.Fstat(fd, &st) == nil && st.Ino == want.Ino && st.Dev == want.Dev {
			fds = append(fds, fd)
		}
	}
	return fds
}

func TestCloseClosesWhatIsOnlyOurs(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "x")
	a, b := open(t, name), open(t, name)
	must.Do(t, a.Lock(osfile.Shared, far, size)) // our own locks are no reason to keep a descriptor
	must.Do(t, b.Close())
	must.Do(t, a.Close())
	if fds := descriptors(t, name); len(fds) != 0 {
		t.Errorf("descriptors %v are left", fds)
	}
}

// Another process's locks are no reason either.
func TestCloseBesideOtherProcess(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "x")
	write(t, name)
	hold(t, "posix", osfile.Shared, name)
	must.Do(t, open(t, name).Close())
	if fds := descriptors(t, name); len(fds) != 0 {
		t.Errorf("descriptors %v are left", fds)
	}
}

// The point of the registry: a lock of another library in this process survives our Close. A
// control shows that a plain close does drop it.
func TestCloseKeepsForeignLock(t *testing.T) {
	t.Parallel()
	skipBlind(t)
	for _, plain := range []bool{false, true} {
		name := filepath.Join(t.TempDir(), "x")
		write(t, name)
		p, err := openPOSIX(name)
		must.Do(t, err)
		defer p.f.Close()
		must.Do(t, p.lock(osfile.Shared, far, size))
		if plain {
			f, err := os.Open(name)
			must.Do(t, err)
			must.Do(t, f.Close())
		} else {
			must.Do(t, open(t, name).Close())
			_, err = osfile.ReadFirst(name, make([]byte, 4))
			must.Do(t, err)
		}
		checkLock(t, open(t, name), osfile.Exclusive, far, !plain)
	}
}

// Descriptors that cannot be closed are used again. They stay until the file is gone: a library
// that opened it once may come back.
func TestCloseParksAndReuses(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "x")
	write(t, name)
	p, err := openPOSIX(name)
	must.Do(t, err)
	for range 10 {
		a, b := open(t, name), open(t, name)
		r, err := osfile.Open(name, os.O_RDONLY, 0)
		must.Do(t, err)
		must.Do(t, a.Lock(osfile.Exclusive, 0, 1))
		must.Do(t, a.Close())
		must.Do(t, b.Lock(osfile.Exclusive, 0, 1)) // a parked descriptor holds no lock
		must.Do(t, b.Close())
		must.Do(t, r.Close())
	}
	if fds := descriptors(t, name); len(fds) != 4 { // two to write, one to read, one foreign
		t.Errorf("descriptors %v", fds)
	}
	must.Do(t, p.f.Close())
	must.Do(t, open(t, name).Close())
	if fds := descriptors(t, name); len(fds) != 3 {
		t.Errorf("descriptors %v after the other library has gone", fds)
	}
	var st unix.Stat_t
	must.Do(t, unix.Stat(name, &st))
	must.Do(t, os.Remove(name))
	must.Do(t, open(t, name+"2").Close())
	if fds := descriptorsOf(t, st); len(fds) != 0 {
		t.Errorf("descriptors %v are left of a removed file", fds)
	}
}

// The number of descriptors that are parked without need is bounded.
func TestParkedAreBounded(t *testing.T) {
	dir := t.TempDir()
	before := osfile.Parked()
	for i := range osfile.MaxParked + 20 {
		must.Do(t, parkMixed(filepath.Join(dir, strconv.Itoa(i))))
	}
	if n := osfile.Parked(); n < osfile.MaxParked || n > osfile.MaxParked+1 {
		t.Errorf("%d descriptors are parked, %d before", n, before)
	}
}

// A process that has no descriptors left gives up parked ones.
func TestParkedGiveWay(t *testing.T) {
	t.Parallel()
	start(t, "crowded", t.TempDir())
}

// crowdedRole parks descriptors, and then opens more files than there would be room for next to
// them.
func crowdedRole(args []string) error {
	const room = 64
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: room, Max: room}); err != nil {
		return err
	}
	name := func(i int) string { return filepath.Join(args[0], strconv.Itoa(i)) }
	for i := range room / 2 {
		if err := parkMixed(name(i)); err != nil {
			return err
		}
	}
	var files []*osfile.File
	for i := range room * 2 / 3 {
		f, err := osfile.Open(name(room+i), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return fmt.Errorf("beside %d files and %d parked: %w", len(files), osfile.Parked(), err)
		}
		files = append(files, f)
	}
	ready()
	runtime.KeepAlive(files)
	return nil
}

// parkMixed leaves a parked descriptor of a file that another library has opened and closed.
func parkMixed(name string) error {
	f, err := osfile.Open(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	p, err := openPOSIX(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), p.f.Close())
}

// A parked descriptor serves the inode, not the name.
func TestReuseFollowsInode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name, other := filepath.Join(dir, "x"), filepath.Join(dir, "y")
	write(t, name)
	p, err := openPOSIX(name)
	must.Do(t, err)
	defer p.f.Close()
	must.Do(t, open(t, name).Close())
	must.Do(t, os.Rename(name, other))
	f := open(t, name) // a new file
	if n, err := f.Size(); n != 0 || err != nil {
		t.Errorf("the new file has %d bytes, %v", n, err)
	}
	g := open(t, other)
	if n, err := g.Size(); n != 7 || err != nil || filepath.Base(g.Name()) != "y" {
		t.Errorf("the renamed file has %d bytes, %v, name %s", n, err, g.Name())
	}
}

// While Files are opened and closed all the time, a library that has the file open never loses a
// lock, nor does a library that opens it again.
func TestCloseKeepsForeignLockUnderLoad(t *testing.T) {
	t.Parallel()
	skipBlind(t)
	name := filepath.Join(t.TempDir(), "x")
	write(t, name)
	p, err := openPOSIX(name)
	must.Do(t, err)
	defer func() { _ = p.f.Close() }()
	watch := open(t, name)
	must.Do(t, open(t, name).Close()) // the registry has seen the other library
	var wg sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		wg.Go(func() { churn(t, name, done) })
	}
	for i := range 500 {
		if i%2 == 1 {
			must.Do(t, p.f.Close())
			p, err = openPOSIX(name)
			must.Do(t, err)
		}
		must.Do(t, p.lock(osfile.Shared, far, size))
		runtime.Gosched()
		if locked, err := watch.Locked(osfile.Exclusive, far, size); !locked || err != nil {
			t.Errorf("the lock is gone: %v", err)
			break
		}
		must.Do(t, p.unlock(far, size))
	}
	close(done)
	wg.Wait()
}

func churn(t *testing.T, name string, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		default:
		}
		f, err := osfile.Open(name, os.O_RDONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		if err := f.Close(); err != nil {
			t.Error(err)
			return
		}
	}
}

func BenchmarkOpenClose(b *testing.B) {
	name := filepath.Join(b.TempDir(), "x")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		f, err := osfile.Open(name, os.O_RDONLY, 0)
		if err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
