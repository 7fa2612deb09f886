//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
)

var followerLooks = flag.Int("follower.looks", 600, "how often each program of TestFollowers sees that its file has grown")

// followerVariable says in which way a process of this test binary follows files.
const followerVariable = "FOLIO_MOUNT_FOLLOWER"

// followedSize is how long a file is at the end. Then the writer begins the next one.
const followedSize = 1 << 20

// followedByte returns the byte at an offset of each file that is followed. It is never zero.
func followedByte(off int64) byte { return byte(1 + (off^off>>8^off>>16)%255) }

// TestFollowers lets programs follow files that grow: one reads until the end, one asks for the
// size and reads up to it, one asks for the size and looks at the file in its memory. None of them
// may see a byte that was not written, or be ended by SIGBUS. The writer is a program in the same
// mount, one in another mount of the volume, or the library.
func TestFollowers(t *testing.T) {
	for _, writer := range []string{"same mount", "other mount", "library"} {
		t.Run(writer, func(t *testing.T) { testFollowers(t, writer) })
	}
}

func testFollowers(t *testing.T, writer string) {
	d := startDaemon(t, newVolume(t))
	w := &growingFiles{open: openGrowing(d)}
	switch writer {
	case "other mount":
		w.open = openGrowing(startDaemon(t, d.volume))
	case "library":
		vol, err := folio.Open(d.volume, nil)
		must.Do(t, err)
		defer vol.Close()
		w.open = func(n int) (growingFile, error) {
			return vol.OpenFile(followedName(n), os.O_CREATE|os.O_WRONLY, 0o644)
		}
	}
	var writing, following sync.WaitGroup
	defer writing.Wait()
	defer w.over.Store(true)
	for _, how := range []string{"read", "stat", "map"} {
		following.Go(func() {
			cmd := exec.Command(os.Args[0], d.dir, strconv.Itoa(*followerLooks))
			cmd.Env = append(os.Environ(), followerVariable+"="+how)
			cmd.Stderr = os.Stderr
			cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
			out, err := cmd.Output()
			said := strings.TrimSpace(string(out))
			t.Logf("%s: %s", how, said)
			if want := fmt.Sprintf("%d looks, 0 with zeros, 0 with wrong bytes, 0 faults", *followerLooks); err != nil || said != want {
				t.Errorf("a program that follows by %s: %q, %v", how, said, err)
			}
		})
	}
	writing.Go(func() {
		if err := w.write(); err != nil {
			t.Error(err)
		}
	})
	d.within(time.Minute+time.Duration(*followerLooks)*20*time.Millisecond, "following", following.Wait)
}

func followedName(n int) string { return fmt.Sprintf("file%d", n) }

// A growingFile is a file that the writer makes longer.
type growingFile interface {
	WriteAt(p []byte, off int64) (int, error)
	Close() error
}

// An appended file is one that is open for appending.
type appended struct{ *os.File }

func (f appended) WriteAt(p []byte, _ int64) (int, error) { return f.Write(p) }

// openGrowing returns a function that makes files in a mount in turn: it writes one through the
// descriptor that made it, one through a later one, and appends to one.
func openGrowing(d *daemon) func(n int) (growingFile, error) {
	return func(n int) (growingFile, error) {
		path := d.path(followedName(n))
		switch n % 3 {
		case 0:
			return os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
		case 1:
			if err := os.WriteFile(path, nil, 0o644); err != nil {
				return nil, err
			}
			return os.OpenFile(path, os.O_RDWR, 0)
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		return appended{f}, err
	}
}

// growingFiles are the files that a writer makes, one after the other.
type growingFiles struct {
	open func(n int) (growingFile, error)
	over atomic.Bool
}

func (w *growingFiles) write() error {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 0; !w.over.Load(); n++ {
		f, err := w.open(n)
		if err != nil {
			return err
		}
		for off := int64(0); off < followedSize && !w.over.Load(); {
			p := make([]byte, min(1+rng.Int64N(1<<rng.IntN(13)), followedSize-off))
			for i := range p {
				p[i] = followedByte(off + int64(i))
			}
			if _, err := f.WriteAt(p, off); err != nil {
				return err
			}
			off += int64(len(p))
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// A follower is a process that follows the files.
type follower struct {
	how                         string
	looks, zeros, wrong, faults int
	buffer                      []byte
}

// followFiles follows the files in the directory of the first argument, until it has seen as often
// as the second says that one has grown.
func followFiles(how string) {
	debug.SetPanicOnFault(true)
	want, err := strconv.Atoi(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	f := &follower{how: how, buffer: make([]byte, followedSize)}
	for n := 0; f.looks < want; n++ {
		if err := f.follow(os.Args[1]+"/"+followedName(n), want); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Printf("%d looks, %d with zeros, %d with wrong bytes, %d faults\n", f.looks, f.zeros, f.wrong, f.faults)
}

// follow follows a file until it has its last byte.
func (f *follower) follow(path string, want int) error {
	fd, err := unix.Open(path, unix.O_RDONLY, 0)
	for ; err == unix.ENOENT; fd, err = unix.Open(path, unix.O_RDONLY, 0) {
		time.Sleep(time.Millisecond)
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	memory, err := unix.Mmap(fd, 0, followedSize, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Munmap(memory) }()
	for pos := int64(0); pos < followedSize && f.looks < want; {
		seen, err := f.look(fd, memory, pos)
		if err != nil {
			return err
		}
		if len(seen) == 0 {
			time.Sleep(50 * time.Microsecond)
			continue
		}
		f.looks++
		if f.check(seen, pos) {
			f.explain(fd, memory, seen, pos)
		}
		pos += int64(len(seen))
	}
	return nil
}

// look returns the bytes that a file has from an offset on.
func (f *follower) look(fd int, memory []byte, pos int64) ([]byte, error) {
	end := int64(followedSize)
	if f.how != "read" {
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			return nil, err
		}
		end = max(pos, st.Size)
	}
	if f.how == "map" {
		return f.copy(memory[pos:end]), nil
	}
	n, err := unix.Pread(fd, f.buffer[:end-pos], pos)
	return f.buffer[:max(0, n)], err
}

// copy copies bytes of a file in memory. It counts SIGBUS.
func (f *follower) copy(p []byte) []byte {
	defer func() {
		if recover() != nil {
			f.faults++
		}
	}()
	return f.buffer[:copy(f.buffer, p)]
}

// explain says where a look has zeros, and what is there a moment later.
func (f *follower) explain(fd int, memory, seen []byte, pos int64) {
	first := slices.Index(seen, 0)
	last := len(seen) - 1
	for seen[last] != 0 {
		last--
	}
	at, end := pos+int64(first), pos+int64(last)+1
	var st unix.Stat_t
	again := memory[at] == 0
	statErr := unix.Fstat(fd, &st)
	fmt.Fprintf(os.Stderr, "followed by %s: zeros from %d to %d in a look from %d to %d; then still zero: %v, and the size is %d, %v\n",
		f.how, at, end, pos, pos+int64(len(seen)), again, st.Size, statErr)
}

// check counts what was not written. It returns whether there are zeros.
func (f *follower) check(seen []byte, pos int64) bool {
	zeros, wrong := 0, 0
	for i, b := range seen {
		switch b {
		case followedByte(pos + int64(i)):
		case 0:
			zeros++
		default:
			wrong++
		}
	}
	f.zeros += min(zeros, 1)
	f.wrong += min(wrong, 1)
	return zeros > 0
}
