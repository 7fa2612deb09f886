//go:build unix

package roottest

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A side is one of the two file systems of a Mirror, with its open files.
type side struct {
	FS
	*handles
	undo   bool            // remove the directories that MkdirAll made before it failed
	failed func(err error) // takes each error of a call, unless it is nil
}

// handles are open files and directories. Several connections to a file system share them.
type handles struct {
	files [6]File
	roots [3]*side
}

func (s *side) closeAll() {
	for i, root := range s.roots {
		if root != nil {
			_ = root.Close()
			s.roots[i] = nil
		}
	}
	for i, f := range s.files {
		if f != nil {
			_ = f.Close()
			s.files[i] = nil
		}
	}
}

// tree describes all that there is.
func (s *side) tree() string {
	var b strings.Builder
	s.describe(&b, ".")
	return b.String()
}

func (s *side) describe(b *strings.Builder, name string) {
	info, err := s.Lstat(name)
	if err != nil {
		fmt.Fprintln(b, name, err)
		return
	}
	fmt.Fprintln(b, name, s.info(info))
	switch {
	case info.IsDir():
		fmt.Fprintln(b, s.xattrs(name))
		list, err := s.list(name)
		if err != nil {
			fmt.Fprintln(b, name, err)
		}
		for _, child := range list {
			s.describe(b, path.Join(name, child))
		}
	case info.Mode().IsRegular():
		p, err := s.ReadFile(name)
		fmt.Fprintln(b, Hash(p), err, s.xattrs(name))
	default:
		target, err := s.Readlink(name)
		fmt.Fprintln(b, target, err)
	}
}

func (s *side) list(name string) (names []string, err error) {
	f, err := s.OpenFile(name, os.O_RDONLY, 0)
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

// fileName returns the name of an open file without Prefix, which it must have.
func (s *side) fileName(f File) string {
	name, ok := strings.CutPrefix(f.Name(), s.Prefix)
	if !ok {
		return fmt.Sprintf("%q does not begin with %q", name, s.Prefix)
	}
	return name
}

// stat describes the result of a method like Stat.
func (s *side) stat(info fs.FileInfo, err error) string {
	if err != nil {
		return s.fail(err)
	}
	return s.info(info)
}

// info describes a FileInfo. Times are told if they are old: those of now differ.
func (s *side) info(info fs.FileInfo) string {
	var owner Owner
	if s.Owner != nil {
		owner = s.Owner(info)
	}
	size, when := info.Size(), "now"
	if info.ModTime().Year() < 2020 {
		when = info.ModTime().UTC().Format(time.RFC3339Nano)
	}
	if info.IsDir() {
		size = 0
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		when = ""
	}
	return fmt.Sprint(info.Name(), " ", info.Mode(), " ", info.IsDir(), " ", size, " ", owner.Links, " ", owner.UID, ":", owner.GID, " ", when)
}

// xattrs describes the extended attributes of a file that is no symbolic link.
func (s *side) xattrs(name string) string {
	if s.Xattrs == nil {
		return ""
	}
	all, err := s.Xattrs.Xattrs(name)
	if err != nil {
		return reasonOf(err)
	}
	var b strings.Builder
	for _, attr := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "%s=%q ", attr, all[attr])
	}
	return b.String()
}

var errnos = []syscall.Errno{
	syscall.ENOENT, syscall.EEXIST, syscall.EINVAL, syscall.ENOTDIR, syscall.EISDIR, syscall.ENOTEMPTY, syscall.ELOOP, syscall.ENAMETOOLONG,
	syscall.EBUSY, syscall.EPERM, syscall.EBADF, syscall.EFBIG,
}

// fail describes an error: operation, names and reason.
func (s *side) fail(err error) string {
	if err == nil {
		return "ok"
	}
	if s.failed != nil {
		s.failed(err)
	}
	names := ""
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		path := e.Path
		if ofFile(e.Op) {
			path = strings.TrimPrefix(path, s.Prefix)
		}
		names = fmt.Sprintf("%s %q ", e.Op, path)
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		names = fmt.Sprintf("%s %q %q ", e.Op, e.Old, e.New)
	}
	return names + reasonOf(err)
}

// ofFile reports whether an operation is one on an open file, whose errors name it with Prefix.
func ofFile(op string) bool {
	switch op {
	case "readat", "stat", "writeat":
		return true
	case "RemoveAll":
		return false
	}
	return !strings.HasSuffix(op, "at")
}

func reasonOf(err error) string {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno.Error()
	}
	if errors.Is(err, errnoAttribute) { // which matches fs.ErrNotExist, maybe
		return errnoAttribute.Error()
	}
	for _, errno := range errnos {
		if errors.Is(err, errno) {
			return errno.Error()
		}
	}
	if errors.Is(err, fs.ErrClosed) || strings.HasSuffix(err.Error(), "use of closed file") { // which nothing matches
		return "closed"
	}
	for e := errors.Unwrap(err); e != nil; e = errors.Unwrap(err) { // os.Root may wrap twice
		err = e
	}
	return strings.TrimPrefix(err.Error(), "os: ")
}
