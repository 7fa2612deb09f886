//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
)

// TestAppended appends to a file through two mounts, so that the kernel takes another offset for
// the end. What a mount shows right after such a write must be in the file for good.
func TestAppended(t *testing.T) {
	d := startDaemon(t, newVolume(t))
	other := startDaemon(t, d.volume)
	open := func(d *daemon) *os.File {
		f, err := os.OpenFile(d.path("file"), os.O_RDWR|os.O_APPEND, 0)
		must.Do(t, err)
		return f
	}
	must.Do(t, os.WriteFile(d.path("file"), []byte("begin\n"), 0o644))
	here, there := open(d), open(other)
	defer here.Close()
	defer there.Close()
	var over atomic.Bool
	var writer sync.WaitGroup
	writer.Go(func() {
		for n := 0; !over.Load(); n++ {
			if _, err := fmt.Fprintf(there, "there %0*d\n", 1+n%50, n); err != nil {
				t.Error(err)
				return
			}
		}
	})
	var seen []string
	for n := range 100 {
		_, err := fmt.Fprintf(here, "here %0*d\n", 1+n%50, n)
		must.Do(t, err)
		got, err := readAll(d.path("file"))
		must.Do(t, err)
		seen = append(seen, got)
	}
	over.Store(true)
	writer.Wait()
	vol, err := folio.Open(d.volume, nil)
	must.Do(t, err)
	defer vol.Close()
	end, err := vol.ReadFile("file")
	must.Do(t, err)
	for n, got := range seen {
		if !strings.HasPrefix(string(end), got) {
			t.Errorf("after write %d the mount showed %q", n, got[max(0, len(got)-100):])
		}
	}
}

// TestAsynchronous writes to a file past the caches of the kernel, by io_submit(2), while other
// programs read it. Once it is written, the mount must show it.
func TestAsynchronous(t *testing.T) {
	d := startDaemon(t, newVolume(t))
	must.Do(t, os.WriteFile(d.path("file"), make([]byte, 4096), 0o644))
	f, err := os.OpenFile(d.path("file"), os.O_RDWR|unix.O_DIRECT, 0)
	must.Do(t, err)
	defer f.Close()
	var over atomic.Bool
	var readers sync.WaitGroup
	defer readers.Wait()
	defer over.Store(true)
	for range 2 {
		readers.Go(func() {
			for !over.Load() {
				_, _ = readAll(d.path("file"))
			}
		})
	}
	page, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	must.Do(t, err)
	defer func() { _ = unix.Munmap(page) }()
	for round := range 60 {
		for i := range page {
			page[i] = byte(round)
		}
		must.Do(t, submit(int(f.Fd()), page))
		if got, err := readAll(d.path("file")); err != nil || got != string(page) {
			t.Fatalf("round %d: the mount shows %d, %v", round, got[0], err)
		}
	}
}

// submit writes memory that was mapped to the begin of a file by io_submit(2), and waits until that
// is done.
func submit(fd int, p []byte) error {
	var context uintptr
	if _, _, errno := unix.Syscall(unix.SYS_IO_SETUP, 1, uintptr(unsafe.Pointer(&context)), 0); errno != 0 {
		return errno
	}
	defer func() { _, _, _ = unix.Syscall(unix.SYS_IO_DESTROY, context, 0, 0) }()
	const write = 1 // IOCB_CMD_PWRITE, below the file in a struct iocb
	one := &[8]uint64{2: write | uint64(fd)<<32, 3: uint64(uintptr(unsafe.Pointer(&p[0]))), 4: uint64(len(p))}
	if _, _, errno := unix.Syscall(unix.SYS_IO_SUBMIT, context, 1, uintptr(unsafe.Pointer(&one))); errno != 0 {
		return errno
	}
	var event [4]int64
	if _, _, errno := unix.Syscall6(unix.SYS_IO_GETEVENTS, context, 1, 1, uintptr(unsafe.Pointer(&event)), 0, 0); errno != 0 {
		return errno
	}
	if n := event[2]; n != int64(len(p)) {
		return fmt.Errorf("io_submit returned %d", n)
	}
	return nil
}
