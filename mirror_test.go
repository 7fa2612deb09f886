//go:build unix

package folio_test

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/foliofs/folio"
)

var (
	mirrorOps = flag.Int("mirror.ops", 20_000, "operations of the comparison with os.Root")
	mirrorDir = flag.String("mirror.dir", "", "where os.Root works; a temporary directory if empty")
)

// A mirrored is what os.Root and a volume have in common, apart from opening files.
type mirrored interface {
	Mkdir(name string, perm fs.FileMode) error
	MkdirAll(name string, perm fs.FileMode) error
	Remove(name string) error
	RemoveAll(name string) error
	Rename(oldname, newname string) error
	Link(oldname, newname string) error
	Symlink(oldname, newname string) error
	Readlink(name string) (string, error)
	Stat(name string) (fs.FileInfo, error)
	Lstat(name string) (fs.FileInfo, error)
	Chmod(name string, mode fs.FileMode) error
	Chown(name string, uid, gid int) error
	Lchown(name string, uid, gid int) error
	Chtimes(name string, atime, mtime time.Time) error
	ReadFile(name string) ([]byte, error)
	WriteFile(name string, data []byte, perm fs.FileMode) error
}

// A mirroredFile is what *os.File and *folio.File have in common.
type mirroredFile interface {
	io.ReadWriteSeeker
	io.ReaderAt
	io.WriterAt
	io.StringWriter
	io.Closer
	Truncate(size int64) error
	Stat() (fs.FileInfo, error)
	ReadDir(n int) ([]fs.DirEntry, error)
	Chmod(mode fs.FileMode) error
	Sync() error
}

// A mirrorSide is one of the two file systems, with the files that are open in it.
type mirrorSide struct {
	mirrored
	open  func(name string, flag int, perm fs.FileMode) (mirroredFile, error)
	strip string // what file names begin with in errors
	files [6]mirroredFile
}

// A mirrorCall is one operation on either side. It returns what came of it.
type mirrorCall struct {
	name  string
	do    func(s *mirrorSide) string
	reads bool // only
}

// TestMirror makes random calls on os.Root and on a volume: names, errors, contents and metadata must be the same. One more:
//
//	go test . -run TestMirror -mirror.ops 1000000 -timeout 2h
func TestMirror(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	defer folio.SetMaxLinks(folio.SetMaxLinks(8)) // as os.Root
	r := random(t)
	for left := *mirrorOps; left > 0; left -= mirrorRound {
		if !mirrorOnce(t, r, min(left, mirrorRound)) {
			return
		}
	}
}

const mirrorRound = 4000

func mirrorOnce(t *testing.T, r *rand.Rand, ops int) bool {
	d := *mirrorDir
	if d == "" {
		d = t.TempDir()
	}
	d, err := os.MkdirTemp(d, "root")
	must(t, err)
	defer func() { must(t, os.RemoveAll(d)) }()
	must(t, os.Chmod(d, 0o755))
	root, err := os.OpenRoot(d)
	must(t, err)
	defer root.Close()
	v := create(t, addAll())
	want := &mirrorSide{mirrored: root, strip: d + "/", open: func(name string, flag int, perm fs.FileMode) (mirroredFile, error) {
		return root.OpenFile(name, flag, perm)
	}}
	got := &mirrorSide{mirrored: v, open: func(name string, flag int, perm fs.FileMode) (mirroredFile, error) {
		return v.OpenFile(name, flag, perm)
	}}
	others := readers(t, v)
	defer want.closeAll()
	defer got.closeAll()
	must(t, resetTimes(want, got, d))
	var last []string
	for i := range ops {
		call := randomCall(r)
		a, b := call.do(got), call.do(want)
		last = append(last, fmt.Sprintf("%s: %s", call.name, b))
		if a != b {
			t.Errorf("after %d calls, %s\n got %s\nwant %s\nafter\n%s", i, call.name, a, b, strings.Join(last[max(0, len(last)-25):], "\n"))
			return false
		}
		for j, other := range others {
			if again := b; call.reads {
				if again = call.do(other); again == b {
					again = call.do(other) // from a cache, maybe
				}
				if again != b {
					t.Errorf("after %d calls, %s by another reader, %d\n got %s\nwant %s", i, call.name, j, again, b)
					return false
				}
			}
		}
		if i%200 == 199 || i == ops-1 {
			if a, b := others[i/200%len(others)].tree(), want.tree(); a != b {
				t.Errorf("after %d calls, the trees differ: %s\nafter\n%s", i, difference(a, b), strings.Join(last[max(0, len(last)-201):], "\n"))
				return false
			}
			must(t, resetTimes(want, got, d))
		}
	}
	wantClean(t, v)
	return true
}

// readers returns other ways to read a volume: through another connection, with caches of its own, and through io/fs.
func readers(t *testing.T, v *folio.FS) (sides []*mirrorSide) {
	t.Helper()
	for _, o := range []*folio.Options{nil, {ReadOnly: true}, {Plain: true, CacheSize: -1}} {
		other := again(t, v, o)
		sides = append(sides, &mirrorSide{mirrored: other, open: func(name string, flag int, perm fs.FileMode) (mirroredFile, error) {
			return other.OpenFile(name, flag, perm)
		}})
	}
	return append(sides, &mirrorSide{mirrored: v, open: func(name string, _ int, _ fs.FileMode) (mirroredFile, error) { return v.Open(name) }})
}

func (s *mirrorSide) closeAll() {
	for _, f := range s.files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// mkdirAll makes the directories or none, as a volume does it: os.Root leaves those that it made before it failed, which
// it can only on a way through "..".
func (s *mirrorSide) mkdirAll(name string, perm fs.FileMode) error {
	if s.strip == "" {
		return s.MkdirAll(name, perm)
	}
	before := directories(s.strip)
	err := s.MkdirAll(name, perm)
	if err != nil {
		if undone := removeNew(s.strip, before); undone != nil {
			return undone
		}
	}
	return err
}

// removeNew removes the directories below d that were not there before.
func removeNew(d string, before map[string]time.Time) (err error) {
	made := slices.DeleteFunc(slices.Sorted(maps.Keys(directories(d))), func(name string) bool { _, ok := before[name]; return ok })
	for _, name := range slices.Backward(made) {
		err = errors.Join(err, os.Remove(name))
		if at, ok := before[filepath.Dir(name)]; ok {
			err = errors.Join(err, os.Chtimes(filepath.Dir(name), at, at))
		}
	}
	return err
}

// directories returns the directories at and below d, with the times of their last change.
func directories(d string) map[string]time.Time {
	found := make(map[string]time.Time)
	_ = filepath.WalkDir(d, func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			info, err := e.Info()
			if err != nil {
				return err
			}
			found[filepath.Clean(name)] = info.ModTime()
		}
		return err
	})
	return found
}

// mirrorTime is the time that all files have that nobody has changed since it was set.
var mirrorTime = time.Date(2001, 2, 3, 4, 5, 6, 7, time.UTC)

func resetTimes(want, got *mirrorSide, d string) error {
	return filepath.WalkDir(d, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.Type()&fs.ModeSymlink != 0 {
			return err
		}
		name, _ = filepath.Rel(d, name)
		return errors.Join(want.Chtimes(name, mirrorTime, mirrorTime), got.Chtimes(name, mirrorTime, mirrorTime))
	})
}

// tree describes all that there is.
func (s *mirrorSide) tree() string {
	var b strings.Builder
	s.describe(&b, ".")
	return b.String()
}

func (s *mirrorSide) describe(b *strings.Builder, name string) {
	info, err := s.Lstat(name)
	fmt.Fprintln(b, name, describeInfo(info, err))
	switch {
	case err != nil:
	case info.IsDir():
		list, err := s.list(name)
		if err != nil {
			fmt.Fprintln(b, name, err)
		}
		for _, child := range list {
			s.describe(b, filepath.Join(name, child))
		}
	case info.Mode().IsRegular():
		p, err := s.ReadFile(name)
		fmt.Fprintln(b, hash(p), err)
	default:
		target, err := s.Readlink(name)
		fmt.Fprintln(b, target, err)
	}
}

func (s *mirrorSide) list(name string) (names []string, err error) {
	f, err := s.open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := f.ReadDir(-1)
	for _, e := range list {
		names = append(names, e.Name())
	}
	slices.Sort(names)
	return names, err
}

// describeInfo describes what Stat tells. Times are told if they are old: those of now differ.
func describeInfo(info fs.FileInfo, err error) string {
	if err != nil {
		return err.Error()
	}
	links, size, uid, gid := uint64(0), info.Size(), uint32(0), uint32(0)
	switch sys := info.Sys().(type) {
	case *syscall.Stat_t:
		links, uid, gid = uint64(sys.Nlink), sys.Uid, sys.Gid
	case *folio.Node:
		links, uid, gid = uint64(sys.Nlink), sys.UID, sys.GID
	}
	when := "now"
	if info.ModTime().Year() < 2020 {
		when = info.ModTime().UTC().Format(time.RFC3339Nano)
	}
	if info.IsDir() {
		size = 0
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		when = ""
	}
	return fmt.Sprint(info.Name(), " ", info.Mode(), " ", size, " ", links, " ", uid, ":", gid, " ", when)
}

var errnos = []syscall.Errno{
	syscall.ENOENT, syscall.EEXIST, syscall.EINVAL, syscall.ENOTDIR, syscall.EISDIR, syscall.ENOTEMPTY, syscall.ELOOP, syscall.ENAMETOOLONG,
	syscall.EBUSY, syscall.EPERM, syscall.EBADF, syscall.EFBIG,
}

// fail describes an error: operation, names and reason.
func (s *mirrorSide) fail(err error) string {
	if err == nil {
		return "ok"
	}
	names := ""
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		names = fmt.Sprintf("%s %q ", e.Op, strings.TrimPrefix(e.Path, s.strip))
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		names = fmt.Sprintf("%s %q %q ", e.Op, e.Old, e.New)
	}
	return names + reasonOf(err)
}

func reasonOf(err error) string {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno.Error()
	}
	for sentinel, errno := range map[error]syscall.Errno{fs.ErrNotExist: syscall.ENOENT, fs.ErrInvalid: syscall.EINVAL} {
		if errors.Is(err, sentinel) {
			return errno.Error()
		}
	}
	for _, errno := range errnos {
		if errors.Is(err, errno) {
			return errno.Error()
		}
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return syscall.EEXIST.Error()
	case errors.Is(err, fs.ErrClosed):
		return "closed"
	}
	for e := errors.Unwrap(err); e != nil; e = errors.Unwrap(err) { // os.Root may wrap twice
		err = e
	}
	return strings.TrimPrefix(err.Error(), "os: ")
}

// mirrorName returns a path, mostly a clean one.
func mirrorName(r *rand.Rand) string {
	if r.IntN(12) == 0 {
		return randomName(r, 5)
	}
	parts := make([]string, 1+r.IntN(3))
	for i := range parts {
		parts[i] = letter(r)
	}
	return strings.Join(parts, "/")
}

func mirrorData(r *rand.Rand) []byte {
	n := r.IntN(100)
	switch r.IntN(12) {
	case 0:
		n = r.IntN(200_000)
	case 1:
		n = 65536*r.IntN(3) + r.IntN(3)
	case 2:
		n = 0
	}
	return randomBytes(r, n)
}

func mirrorOffset(r *rand.Rand) int64 {
	switch r.IntN(8) {
	case 0:
		return int64(r.IntN(300_000))
	case 1:
		return max(-1, int64(65536*r.IntN(4)+r.IntN(3)-1))
	}
	return int64(r.IntN(200))
}

// randomCall returns one call with arguments that are the same on both sides.
func randomCall(r *rand.Rand) mirrorCall {
	name, other := mirrorName(r), mirrorName(r)
	simple := func(op string, do func(s *mirrorSide) error) mirrorCall {
		return mirrorCall{op, func(s *mirrorSide) string { return s.fail(do(s)) }, false}
	}
	perm := fs.FileMode(r.IntN(0o1000))
	switch r.IntN(34) {
	case 0, 1:
		return simple(fmt.Sprintf("Mkdir(%q)", name), func(s *mirrorSide) error { return s.Mkdir(name, perm) })
	case 2:
		return simple(fmt.Sprintf("MkdirAll(%q)", name), func(s *mirrorSide) error { return s.mkdirAll(name, perm) })
	case 3, 4, 5:
		return simple(fmt.Sprintf("Remove(%q)", name), func(s *mirrorSide) error { return s.Remove(name) })
	case 6:
		if strings.Contains(name, "..") {
			name = "b"
		}
		return simple(fmt.Sprintf("RemoveAll(%q)", name), func(s *mirrorSide) error { return s.RemoveAll(name) })
	case 7, 8, 9, 10:
		return simple(fmt.Sprintf("Rename(%q, %q)", name, other), func(s *mirrorSide) error { return s.Rename(name, other) })
	case 11, 12:
		return simple(fmt.Sprintf("Link(%q, %q)", name, other), func(s *mirrorSide) error { return s.Link(name, other) })
	case 13, 14:
		return simple(fmt.Sprintf("Symlink(%q, %q)", name, other), func(s *mirrorSide) error { return s.Symlink(name, other) })
	case 15:
		return mirrorCall{fmt.Sprintf("Readlink(%q)", name), func(s *mirrorSide) string {
			target, err := s.Readlink(name)
			return target + " " + s.fail(err)
		}, true}
	case 16:
		return mirrorCall{fmt.Sprintf("Stat(%q)", name), func(s *mirrorSide) string { return s.stat(s.Stat(name)) }, true}
	case 17:
		return mirrorCall{fmt.Sprintf("Lstat(%q)", name), func(s *mirrorSide) string { return s.stat(s.Lstat(name)) }, true}
	case 18:
		mode := perm | [...]fs.FileMode{0, fs.ModeSetuid, fs.ModeSetgid, fs.ModeSticky}[r.IntN(4)]
		if mode&fs.ModeSticky != 0 {
			mode &^= 0o022 // Linux keeps even root from following links in others' directories like /tmp
		}
		return simple(fmt.Sprintf("Chmod(%q, %v)", name, mode), func(s *mirrorSide) error { return s.Chmod(name, mode) })
	case 19:
		if os.Geteuid() != 0 {
			break
		}
		uid, gid, l := r.IntN(3)-1, r.IntN(3)-1, r.IntN(2) == 0
		return simple(fmt.Sprintf("Chown(%q, %d, %d, %v)", name, uid, gid, l), func(s *mirrorSide) error {
			if l {
				return s.Lchown(name, uid, gid)
			}
			return s.Chown(name, uid, gid)
		})
	case 20:
		when := mirrorTime.Add(time.Duration(r.Int64N(1 << 40)))
		if r.IntN(4) == 0 {
			when = time.Time{}
		}
		return simple(fmt.Sprintf("Chtimes(%q, %v)", name, when), func(s *mirrorSide) error { return s.Chtimes(name, mirrorTime, when) })
	case 21, 22:
		return mirrorCall{fmt.Sprintf("ReadFile(%q)", name), func(s *mirrorSide) string {
			p, err := s.ReadFile(name)
			return hash(p) + " " + s.fail(err)
		}, true}
	case 23, 24, 25:
		data := mirrorData(r)
		return simple(fmt.Sprintf("WriteFile(%q, %d, %v)", name, len(data), perm), func(s *mirrorSide) error { return s.WriteFile(name, data, perm) })
	}
	return randomFileCall(r, name, perm)
}

func (s *mirrorSide) stat(info fs.FileInfo, err error) string {
	if err != nil {
		return s.fail(err)
	}
	return describeInfo(info, nil)
}

// randomFileCall returns a call on an open file, or opens one.
func randomFileCall(r *rand.Rand, name string, perm fs.FileMode) mirrorCall {
	i := r.IntN(6)
	on := func(op string, do func(s *mirrorSide, f mirroredFile) string) mirrorCall {
		return mirrorCall{fmt.Sprintf("file %d: %s", i, op), func(s *mirrorSide) string {
			if s.files[i] == nil {
				return "none"
			}
			return do(s, s.files[i])
		}, false}
	}
	data, off := mirrorData(r), mirrorOffset(r)
	switch r.IntN(14) {
	case 0, 1, 2, 3:
		flag := [...]int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_RDWR}[r.IntN(4)]
		for _, f := range []int{os.O_CREATE, os.O_EXCL, os.O_TRUNC, os.O_APPEND} {
			if r.IntN(3) == 0 {
				flag |= f
			}
		}
		if flag&os.O_CREATE == 0 {
			flag &^= os.O_EXCL // else undefined
		}
		return mirrorCall{fmt.Sprintf("file %d = OpenFile(%q, %#x, %v)", i, name, flag, perm), func(s *mirrorSide) string {
			if s.files[i] != nil {
				_ = s.files[i].Close()
				s.files[i] = nil
			}
			f, err := s.open(name, flag, perm)
			if err == nil {
				s.files[i] = f
			}
			return s.fail(err)
		}, false}
	case 4:
		return on(fmt.Sprintf("Read(%d)", len(data)), func(s *mirrorSide, f mirroredFile) string {
			p := make([]byte, len(data))
			n, err := f.Read(p)
			return hash(p[:n]) + s.fail(err)
		})
	case 5:
		return on(fmt.Sprintf("ReadAt(%d, %d)", len(data), off), func(s *mirrorSide, f mirroredFile) string {
			p := make([]byte, len(data))
			n, err := f.ReadAt(p, off)
			return hash(p[:n]) + s.fail(err)
		})
	case 6, 7:
		return on(fmt.Sprintf("Write(%d)", len(data)), func(s *mirrorSide, f mirroredFile) string {
			n, err := f.Write(data)
			return fmt.Sprint(n, s.fail(err))
		})
	case 8:
		return on(fmt.Sprintf("WriteAt(%d, %d)", len(data), off), func(s *mirrorSide, f mirroredFile) string {
			n, err := f.WriteAt(data, off)
			return fmt.Sprint(n, s.fail(err))
		})
	case 9:
		whence := r.IntN(3)
		return on(fmt.Sprintf("Seek(%d, %d)", off, whence), func(s *mirrorSide, f mirroredFile) string {
			if info, err := f.Stat(); err != nil || info.IsDir() {
				return "dir"
			}
			n, err := f.Seek(off, whence)
			return fmt.Sprint(n, s.fail(err))
		})
	case 10:
		return on(fmt.Sprintf("Truncate(%d)", off), func(s *mirrorSide, f mirroredFile) string { return s.fail(f.Truncate(off)) })
	case 11:
		return on("Stat", func(s *mirrorSide, f mirroredFile) string { return s.stat(f.Stat()) })
	case 12:
		return on("Chmod", func(s *mirrorSide, f mirroredFile) string { return s.fail(f.Chmod(perm)) })
	}
	return on("Close", func(s *mirrorSide, f mirroredFile) string {
		if len(data) < 50 {
			s.files[i] = nil
		}
		return s.fail(f.Close())
	})
}
