package crashfs_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/osfile/crashfs"
)

// canPunch reports whether the operating system can make holes in the files of a directory.
func canPunch(t *testing.T) bool {
	h := open(t, osfile.OS, filepath.Join(t.TempDir(), "a")).(disk)
	err := errors.Join(h.Preallocate(0, 10), h.Punch(0, 10))
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	return err == nil
}

// TestConformance does the same random operations on files of the operating system and on those of
// an FS: each has the same result.
func TestConformance(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("locks and open files behave otherwise there")
	}
	holes := canPunch(t)
	for seed := range uint64(40) {
		dir := t.TempDir()
		a := &actor{sys: osfile.OS, dir: dir, rng: rand.New(rand.NewPCG(seed, 0)), holes: holes}
		b := &actor{sys: crashfs.New(crashfs.WithFreeSpace(1 << 30)), dir: "/x", rng: rand.New(rand.NewPCG(seed, 0)), holes: holes}
		for step := range 400 {
			got, want := b.act(), a.act()
			if got != want {
				t.Fatalf("seed %d, step %d: %s; of the operating system: %s", seed, step, got, want)
			}
		}
		a.close(t)
		b.close(t)
	}
}

// An actor does random operations and describes their results.
type actor struct {
	sys     osfile.System
	dir     string
	rng     *rand.Rand
	handles []osfile.Handle
	holes   bool // files can be allocated and punched
}

func (a *actor) name() string { return filepath.Join(a.dir, string(rune('a'+a.rng.IntN(3)))) }

func (a *actor) act() string {
	switch a.rng.IntN(10) {
	case 0:
		return a.open()
	case 1:
		name := a.name()
		size, ok, err := a.sys.Exists(name)
		return result("exists", size, ok, err)
	case 2:
		if a.rng.IntN(4) > 0 {
			return a.open()
		}
		return result("remove", a.sys.Remove(a.name()))
	case 3:
		if a.rng.IntN(4) > 0 {
			return a.open()
		}
		return result("rename", a.sys.Rename(a.name(), a.name()))
	}
	if len(a.handles) == 0 {
		return a.open()
	}
	return a.use(a.rng.IntN(len(a.handles)))
}

func (a *actor) open() string {
	name, flag := a.name(), osfile.ReadWrite
	switch a.rng.IntN(4) {
	case 0:
		flag = osfile.ReadOnly
	case 1:
	default:
		flag |= osfile.Create
	}
	h, err := a.sys.Open(name, flag, 0o666)
	if err == nil {
		a.handles = append(a.handles, h)
	}
	return result("open", flag, err)
}

func (a *actor) use(i int) string {
	h := a.handles[i]
	off, n := a.rng.Int64N(3000), a.rng.Int64N(1500)+1
	start, count := a.rng.Int64N(6), a.rng.Int64N(4)+1
	kinds := 14
	if a.holes {
		kinds = 16
	}
	switch a.rng.IntN(kinds) {
	case 0, 1:
		b := make([]byte, n)
		got, err := h.ReadAt(b, off)
		return result("read", off, n, got, string(b[:got]), err)
	case 2, 3, 4:
		b := make([]byte, n)
		for j := range b {
			b[j] = byte(a.rng.Uint32())
		}
		got, err := h.WriteAt(b, off)
		return result("write", off, n, got, err)
	case 5:
		return result("truncate", off, h.Truncate(off))
	case 6:
		size, err := h.Size()
		return result("size", size, err)
	case 7:
		moved, err := h.Moved()
		return result("moved", moved, err)
	case 8:
		return result("lock shared", i, start, count, h.Lock(osfile.Shared, start, count))
	case 9:
		return result("lock exclusive", i, start, count, h.Lock(osfile.Exclusive, start, count))
	case 10:
		return result("unlock", i, start, count, h.Unlock(start, count))
	case 11:
		locked, err := h.Locked(osfile.LockKind(a.rng.IntN(2)), start, count)
		return result("locked", i, start, count, locked, err)
	case 12:
		return result("sync", h.Sync())
	case 14:
		return result("allocate", off, n, h.(disk).Preallocate(off, n))
	case 15:
		return result("punch", off, n, h.(disk).Punch(off, n))
	default:
		if a.rng.IntN(3) == 0 {
			a.handles = append(a.handles[:i], a.handles[i+1:]...)
		}
		return result("close", i, h.Close())
	}
}

// result prints the results of an operation, errors by the sentinel that they match.
func result(args ...any) string {
	for i, arg := range args {
		err, ok := arg.(error)
		if !ok {
			continue
		}
		args[i] = "another error"
		for _, known := range []error{osfile.ErrLocked, fs.ErrNotExist, fs.ErrClosed, io.EOF} {
			if errors.Is(err, known) {
				args[i] = known.Error()
			}
		}
	}
	return fmt.Sprintf("%q", args)
}

func (a *actor) close(t *testing.T) {
	for _, h := range a.handles {
		if err := h.Close(); err != nil && !errors.Is(err, fs.ErrClosed) {
			t.Error(err)
		}
	}
	if f, ok := a.sys.(*crashfs.FS); ok && f.Handles()+f.Locks() > 0 {
		t.Errorf("%d handles, %d locks are left", f.Handles(), f.Locks())
	}
}

func TestWordsAreShared(t *testing.T) {
	t.Parallel()
	f := crashfs.New()
	h, other := open(t, f, "shm"), open(t, f, "shm")
	write(t, h, 0, "abcd")
	w, err := h.MapWords(0, 1<<16)
	if err != nil {
		t.Fatal(err)
	}
	x, err := other.MapWords(0, 1<<16)
	if err != nil {
		t.Fatal(err)
	}
	w.Shared[0]++
	if x.Shared[0] != w.Shared[0] {
		t.Error("words are not shared")
	}
	if got, _ := f.ReadFile("shm"); string(got) == "abcd" || len(got) != 4 {
		t.Errorf("the file holds %q", got)
	}
	write(t, other, 4095, "z")
	if size, _, _ := f.Exists("shm"); size != 4096 || w.Shared[1023]>>24 == 0 && w.Shared[1023]&0xff == 0 {
		t.Errorf("size %d, last word %x", size, w.Shared[1023])
	}
	if err := h.Truncate(3); err != nil {
		t.Fatal(err)
	}
	if w.Shared[1023] != 0 {
		t.Error("truncation left a word")
	}
	if err := errors.Join(w.Unmap(), x.Unmap()); err != nil {
		t.Error(err)
	}
	if n := f.Mappings(); n != 0 {
		t.Errorf("%d mappings are left", n)
	}
}

func TestMapsAreCoherent(t *testing.T) {
	t.Parallel()
	f := crashfs.New(crashfs.WithMaps())
	h := open(t, f, "db")
	write(t, h, 0, "first")
	m, err := h.Map(100)
	if err != nil {
		t.Fatal(err)
	}
	write(t, h, 10, "second")
	if got := string(m.Bytes()[:16]); got != "first\x00\x00\x00\x00\x00second" {
		t.Errorf("the map shows %q", got)
	}
	if err := h.Truncate(2); err != nil {
		t.Fatal(err)
	}
	if got := string(m.Bytes()[:4]); got != "fi\x00\x00" {
		t.Errorf("after a truncation the map shows %q", got)
	}
	if err := m.Unmap(); err != nil {
		t.Fatal(err)
	}
	if err := m.Unmap(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("second Unmap: %v", err)
	}
	if got, _ := f.ReadFile("db"); string(got) != "fi" {
		t.Errorf("the file holds %q", got)
	}
	if _, err := open(t, crashfs.New(), "db").Map(10); !errors.Is(err, osfile.ErrNoMap) {
		t.Errorf("Map without maps: %v", err)
	}
}

func open(t *testing.T, sys osfile.System, name string) osfile.Handle {
	t.Helper()
	h, err := sys.Open(name, osfile.ReadWrite|osfile.Create, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func write(t *testing.T, h osfile.Handle, off int64, text string) {
	t.Helper()
	if _, err := h.WriteAt([]byte(text), off); err != nil {
		t.Fatal(err)
	}
}
