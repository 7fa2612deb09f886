//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/must"
	"golang.org/x/sys/unix"
)

// An alteration is a way to change a file through a descriptor or a path.
type alteration struct {
	name string
	do   func(fd int, path string) error
}

var block = make([]byte, 4096)

// alterations are all system calls that change the content, the size or the owner of a file, and
// some that do not. A chown(2) to nobody else is none of them: the kernel sends the same as before
// a write.
var alterations = []alteration{
	{"nothing", func(int, string) error { return nil }},
	{"write", func(fd int, _ string) error { _, err := unix.Write(fd, block); return err }},
	{"pwrite", func(fd int, _ string) error { _, err := unix.Pwrite(fd, block[:10], 10); return err }},
	{"writev", func(fd int, _ string) error { _, err := unix.Writev(fd, [][]byte{block, block}); return err }},
	{"pwritev2", func(fd int, _ string) error {
		_, err := unix.Pwritev2(fd, [][]byte{block}, 0, unix.RWF_SYNC)
		return err
	}},
	{"append", func(_ int, path string) error {
		return withFile(path, unix.O_WRONLY|unix.O_APPEND, func(fd int) error { _, err := unix.Write(fd, block); return err })
	}},
	{"write O_SYNC", func(_ int, path string) error {
		return withFile(path, unix.O_WRONLY|unix.O_SYNC, func(fd int) error { _, err := unix.Write(fd, block); return err })
	}},
	{"write O_DIRECT", func(_ int, path string) error {
		return withFile(path, unix.O_WRONLY|unix.O_DIRECT, func(fd int) error { _, err := unix.Write(fd, aligned()); return err })
	}},
	{"write nothing", func(fd int, _ string) error { _, err := unix.Write(fd, nil); return err }},
	{"sendfile", func(fd int, path string) error {
		return withFile(path+".src", unix.O_RDONLY, func(src int) error { _, err := unix.Sendfile(fd, src, nil, 100); return err })
	}},
	{"splice", splice},
	{"copy_file_range", func(fd int, path string) error {
		return withFile(path+".src", unix.O_RDONLY, func(src int) error { _, err := unix.CopyFileRange(src, nil, fd, nil, 100, 0); return err })
	}},
	{"copy_file_range nothing", func(fd int, path string) error {
		return withFile(path+".src", unix.O_RDONLY, func(src int) error {
			at := int64(1 << 20)
			_, err := unix.CopyFileRange(src, &at, fd, nil, 100, 0)
			return err
		})
	}},
	{"map", func(_ int, path string) error {
		return withFile(path, unix.O_RDWR, func(fd int) error {
			b, err := unix.Mmap(fd, 0, 4096, unix.PROT_WRITE, unix.MAP_SHARED)
			if err == nil {
				b[0]++
				err = errors.Join(unix.Msync(b, unix.MS_SYNC), unix.Munmap(b))
			}
			return err
		})
	}},
	{"fallocate", func(fd int, _ string) error { return unix.Fallocate(fd, 0, 0, 1<<20) }},
	{"fallocate within", func(fd int, _ string) error { return unix.Fallocate(fd, 0, 0, 100) }},
	{"fallocate keep size", func(fd int, _ string) error { return unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE, 0, 1<<20) }},
	{"fallocate punch", func(fd int, _ string) error {
		return unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, 4096)
	}},
	{"fallocate zero", func(fd int, _ string) error { return unix.Fallocate(fd, unix.FALLOC_FL_ZERO_RANGE, 0, 4096) }},
	{"fallocate zero keep size", func(fd int, _ string) error {
		return unix.Fallocate(fd, unix.FALLOC_FL_ZERO_RANGE|unix.FALLOC_FL_KEEP_SIZE, 0, 4096)
	}},
	{"ftruncate", func(fd int, _ string) error { return unix.Ftruncate(fd, 100) }},
	{"ftruncate longer", func(fd int, _ string) error { return unix.Ftruncate(fd, 1<<20) }},
	{"ftruncate same", func(fd int, _ string) error { return unix.Ftruncate(fd, 8192) }},
	{"truncate", func(_ int, path string) error { return unix.Truncate(path, 100) }},
	{"O_TRUNC", func(_ int, path string) error {
		return withFile(path, unix.O_WRONLY|unix.O_TRUNC, func(int) error { return nil })
	}},
	{"O_CREAT O_TRUNC", func(_ int, path string) error {
		return withFile(path, unix.O_WRONLY|unix.O_TRUNC|unix.O_CREAT, func(int) error { return nil })
	}},
	{"fchown", func(fd int, _ string) error { return unix.Fchown(fd, 1000, -1) }},
	{"chown same", func(_ int, path string) error { return unix.Chown(path, 1000, 1000) }},
	{"chgrp", func(_ int, path string) error { return unix.Chown(path, -1, 2000) }},
	{"chmod", func(_ int, path string) error { return unix.Chmod(path, 0o6775) }},
	{"fchmod without x", func(fd int, _ string) error { return unix.Fchmod(fd, 0o6666) }},
	{"utimes", func(_ int, path string) error { return unix.UtimesNanoAt(unix.AT_FDCWD, path, nil, 0) }},
	{"setxattr", func(_ int, path string) error { return unix.Setxattr(path, "user.x", []byte("x"), 0) }},
	{"link", func(_ int, path string) error { return unix.Link(path, path+".link") }},
	{"rename", func(_ int, path string) error { return unix.Rename(path, path+".moved") }},
}

// withFile opens a file for a function.
func withFile(path string, flags int, fn func(fd int) error) error {
	fd, err := unix.Open(path, flags, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(fn(fd), unix.Close(fd))
}

// aligned returns a block that lies as O_DIRECT wants it.
func aligned() []byte {
	b, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		panic(err)
	}
	return b
}

// splice writes through a pipe.
func splice(fd int, _ string) error {
	var p [2]int
	if err := unix.Pipe(p[:]); err != nil {
		return err
	}
	defer unix.Close(p[0])
	_, err := unix.Write(p[1], block)
	if err == nil {
		_ = unix.Close(p[1])
		_, err = unix.Splice(p[0], nil, fd, nil, 4096, 0)
	}
	return err
}

// alterers are who may change the file of user 1000 and group 1000, and how far.
var alterers = map[string]user{
	"root":     superuser,
	"owner":    {uid: 1000, gid: 1000},
	"alone":    {uid: 1000, gid: 3000, groups: []int{2000}}, // the owner outside of the group
	"member":   {uid: 1001, gid: 2000, groups: []int{1000}},
	"stranger": {uid: 1002, gid: 2000},
}

// TestPrivileges changes files with setuid, setgid and capabilities in each way and by each kind of
// user, through descriptors of files that are there and that were made for writing, and compares
// what the files keep with what those of the same system calls keep on ext4.
func TestPrivileges(t *testing.T) {
	c := newContest(t)
	judge := onExt4(t)
	modes := []uint32{0o777, 0o4777, 0o2777, 0o6777, 0o2767, 0o6666, 0o1777}
	t.Logf("%d system calls, %d kinds of user, %d modes, 2 descriptors: %d", len(alterations), len(alterers), len(modes),
		len(alterations)*len(alterers)*len(modes)*2)
	for name, by := range alterers {
		t.Run(name, func(t *testing.T) {
			for _, a := range alterations {
				for _, mode := range modes {
					for _, made := range []bool{false, true} {
						want := alter(t, judge, by, a, mode, made)
						if got := alter(t, c.mount.path("all"), by, a, mode, made); got != want {
							t.Errorf("%s, mode %o, made for writing %v: %s, but %s on ext4", a.name, mode, made, got, want)
						}
					}
				}
			}
		})
	}
}

// alter makes a file, lets a user change it, and returns what became of it. The descriptor is
// that of root: permissions at the time of open do not matter.
func alter(t *testing.T, dir string, by user, a alteration, mode uint32, made bool) string {
	path := filepath.Join(dir, "file")
	for _, ending := range []string{"", ".src", ".link", ".moved"} {
		if err := unix.Unlink(path + ending); err != nil && !errors.Is(err, unix.ENOENT) {
			t.Fatal(err)
		}
	}
	must.Do(t, os.WriteFile(path+".src", block, 0o644))
	flags := unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL
	fd, err := unix.Open(path, flags, 0o600)
	must.Do(t, err)
	_, err = unix.Write(fd, make([]byte, 8192))
	must.Do(t, err)
	if !made {
		must.Do(t, unix.Close(fd))
		fd, err = unix.Open(path, unix.O_RDWR, 0)
		must.Do(t, err)
	}
	defer unix.Close(fd)
	must.Do(t, unix.Chown(path, 1000, 1000))
	must.Do(t, unix.Chmod(path, mode))
	capability := []byte("\x01\x00\x00\x02\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	must.Do(t, unix.Setxattr(path, xattrCapability, capability, 0))
	var result error
	by.do(t, func() { result = a.do(fd, path) })
	var st unix.Stat_t
	must.Do(t, unix.Fstat(fd, &st))
	size, err := unix.Fgetxattr(fd, xattrCapability, make([]byte, 100))
	return fmt.Sprintf("%o, capability %v, %v", st.Mode&0o7777, err == nil && size == len(capability), result)
}

// onExt4 returns a directory of an ext4 in which all may make files.
func onExt4(t *testing.T) string {
	dir := t.TempDir()
	const ext4 = 0xef53
	if st := new(unix.Statfs_t); unix.Statfs(dir, st) != nil || st.Type != ext4 {
		image := filepath.Join(dir, "image")
		must.Do(t, os.WriteFile(image, nil, 0o600))
		must.Do(t, os.Truncate(image, 64<<20))
		dir = filepath.Join(dir, "mnt")
		must.Do(t, os.Mkdir(dir, 0o755))
		for _, command := range []string{"mkfs.ext4 -q " + image, "mount -o loop " + image + " " + dir} {
			args := strings.Fields(command)
			if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
				t.Skipf("no ext4 to compare with: %s: %v, %s", command, err, out)
			}
		}
		t.Cleanup(func() { _ = unix.Unmount(dir, 0) })
	}
	for up := dir; up != os.TempDir() && up != "/"; up = filepath.Dir(up) {
		must.Do(t, os.Chmod(up, 0o755))
	}
	must.Do(t, os.Chmod(dir, 0o777|os.ModeSticky))
	return dir
}
