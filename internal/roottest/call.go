//go:build unix

package roottest

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/foliofs/folio/internal/random"
)

// A call is one operation, to be made on either side with the same arguments. It returns a
// description of the result.
type call struct {
	name  string
	do    func(s *side) string
	reads bool // only
}

// change is a call that returns nothing but an error.
func change(do func(s *side) error, format string, args ...any) call {
	return call{fmt.Sprintf(format, args...), func(s *side) string { return s.fail(do(s)) }, false}
}

func read(do func(s *side) string, format string, args ...any) call {
	return call{fmt.Sprintf(format, args...), do, true}
}

// permission returns permissions, seldom some that cannot be had.
func permission(r *rand.Rand) fs.FileMode {
	perm := fs.FileMode(r.IntN(0o1000))
	if r.IntN(60) == 0 {
		perm |= [...]fs.FileMode{fs.ModeSetuid, fs.ModeSticky, fs.ModeDir, fs.ModeSymlink}[r.IntN(4)]
	}
	return perm
}

// randomCall returns a call.
func randomCall(r *rand.Rand) call {
	switch n := r.IntN(36); {
	case n < 17:
		return nameCall(r)
	case n < 26:
		return nodeCall(r)
	}
	return fileCall(r)
}

// nameCall returns a call that is about names.
func nameCall(r *rand.Rand) call {
	name, perm := name(r), permission(r)
	from, to := twoNames(r)
	switch r.IntN(17) {
	case 0, 1:
		return change(func(s *side) error { return s.Mkdir(name, perm) }, "Mkdir(%q, %v)", name, perm)
	case 2: // whose errors name the directories that symbolic links led to
		return change(func(s *side) error { return s.mkdirAll(from, perm) }, "MkdirAll(%q, %v)", from, perm)
	case 3, 4, 5:
		return change(func(s *side) error { return s.Remove(name) }, "Remove(%q)", name)
	case 6:
		if strings.Contains(name, "..") { // os.Root says one thing or another
			name = "b"
		}
		return change(func(s *side) error { return s.RemoveAll(name) }, "RemoveAll(%q)", name)
	case 7, 8, 9, 10:
		return change(func(s *side) error { return s.Rename(from, to) }, "Rename(%q, %q)", from, to)
	case 11, 12:
		return change(func(s *side) error { return s.Link(from, to) }, "Link(%q, %q)", from, to)
	case 13, 14:
		return change(func(s *side) error { return s.Symlink(from, to) }, "Symlink(%q, %q)", from, to)
	case 15:
		return read(func(s *side) string {
			target, err := s.Readlink(name)
			return target + " " + s.fail(err)
		}, "Readlink(%q)", name)
	}
	return read(func(s *side) string { return s.stat(s.Lstat(name)) }, "Lstat(%q)", name)
}

// nodeCall returns a call about the file at a path.
func nodeCall(r *rand.Rand) call {
	name, perm := name(r), permission(r)
	switch r.IntN(10) {
	case 0:
		return read(func(s *side) string { return s.stat(s.Stat(name)) }, "Stat(%q)", name)
	case 1:
		mode := perm.Perm() | [...]fs.FileMode{0, fs.ModeSetuid, fs.ModeSetgid, fs.ModeSticky}[r.IntN(4)]
		if mode&fs.ModeSticky != 0 {
			mode &^= 0o022 // Linux keeps even root from following links of other users in directories like /tmp
		}
		return change(func(s *side) error { return s.Chmod(name, mode) }, "Chmod(%q, %v)", name, mode)
	case 2:
		if os.Geteuid() == 0 {
			return chown(r, name)
		}
	case 3:
		return chtimes(r, name)
	case 4, 5:
		data := content(r)
		return change(func(s *side) error { return s.WriteFile(name, data, perm) }, "WriteFile(%q, %d, %v)", name, len(data), perm)
	case 6, 7:
		return xattrCall(r, name)
	}
	return read(func(s *side) string {
		p, err := s.ReadFile(name)
		return Hash(p) + " " + s.fail(err)
	}, "ReadFile(%q)", name)
}

func chown(r *rand.Rand, name string) call {
	uid, gid := r.IntN(3)-1, r.IntN(3)-1
	if r.IntN(2) == 0 {
		return change(func(s *side) error { return s.Lchown(name, uid, gid) }, "Lchown(%q, %d, %d)", name, uid, gid)
	}
	return change(func(s *side) error { return s.Chown(name, uid, gid) }, "Chown(%q, %d, %d)", name, uid, gid)
}

// chtimes returns a call of Chtimes, and tells the time of access after it.
func chtimes(r *rand.Rand, name string) call {
	old := func() time.Time {
		if r.IntN(4) == 0 {
			return time.Time{} // leaves the time as it is
		}
		return time.Unix(r.Int64N(3<<30)-1<<31, r.Int64N(1e9))
	}
	atime, mtime := old(), old()
	if mtime.Year() >= 2020 || mtime.IsZero() && atime.IsZero() { // with two zeros Linux does not look at the name
		mtime = resetTime
	}
	return call{fmt.Sprintf("Chtimes(%q, %v, %v)", name, atime, mtime), func(s *side) string {
		err := s.Chtimes(name, atime, mtime)
		info, statErr := s.Stat(name)
		if err != nil || statErr != nil || s.Owner == nil || atime.IsZero() {
			return s.fail(err)
		}
		return s.Owner(info).Atime.UTC().Format(time.RFC3339Nano)
	}, false}
}

// xattrCall sets, removes or reads an extended attribute of a file that is no symbolic link: Linux
// does not let those have any.
func xattrCall(r *rand.Rand, name string) call {
	attr, value, way := "user."+random.Letter(r), content(r), r.IntN(4)
	value = value[:min(len(value), 300)] // a block must be enough for ext4
	return call{fmt.Sprintf("xattr %d of %q, %s %d", way, name, attr, len(value)), func(s *side) string {
		info, err := s.Lstat(name)
		switch {
		case s.Xattrs == nil || err != nil || info.Mode()&fs.ModeSymlink != 0 || strings.HasSuffix(name, "/"):
			return "none"
		case way == 0:
			return reasonOrNone(s.Xattrs.RemoveXattr(name, attr))
		case way < 3:
			return reasonOrNone(s.Xattrs.SetXattr(name, attr, value))
		}
		return s.xattrs(name)
	}, way == 3}
}

func reasonOrNone(err error) string {
	if err == nil {
		return "ok"
	}
	return reasonOf(err)
}
